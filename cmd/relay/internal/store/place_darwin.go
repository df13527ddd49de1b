package store

import "golang.org/x/sys/unix"

func kindOf(dir string) string {
	var s unix.Statfs_t
	if unix.Statfs(dir, &s) != nil {
		return ""
	}
	return unix.ByteSliceToString(s.Fstypename[:])
}
