package store

import "golang.org/x/sys/unix"

// magics are the numbers of linux/magic.h and of the file systems' own sources.
var magics = map[uint32]string{
	unix.NFS_SUPER_MAGIC: "nfs", unix.SMB_SUPER_MAGIC: "smb", unix.CIFS_SUPER_MAGIC: "cifs", unix.SMB2_SUPER_MAGIC: "smb2",
	unix.V9FS_MAGIC: "9p", unix.FUSE_SUPER_MAGIC: "fuse", unix.AFS_SUPER_MAGIC: "afs", unix.AFS_FS_MAGIC: "afs",
	unix.CODA_SUPER_MAGIC: "coda", unix.CEPH_SUPER_MAGIC: "ceph", unix.OCFS2_SUPER_MAGIC: "ocfs2",
	0x0bd00bd0: "lustre", 0x01161970: "gfs2", 0x786f4256: "vboxsf",
}

func kindOf(dir string) string {
	var s unix.Statfs_t
	if unix.Statfs(dir, &s) != nil {
		return ""
	}
	return magics[uint32(s.Type)]
}
