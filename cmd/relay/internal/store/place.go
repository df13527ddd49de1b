package store

import "fmt"

// far are the kinds of file systems, by the names that systems have for them, that may not do what
// a store needs: a lock that counts on all machines, a sync that reaches the disk, memory that is
// shared by processes. Some of them do. Their other names are for people.
var far = map[string]string{
	"nfs": "NFS", "smb": "SMB", "smbfs": "SMB", "cifs": "SMB", "smb2": "SMB", "9p": "9P", "fuse": "FUSE, or virtiofs",
	"afs": "AFS", "afpfs": "AFP", "webdav": "WebDAV", "coda": "Coda", "ceph": "Ceph", "lustre": "Lustre",
	"gfs2": "GFS2", "ocfs2": "OCFS2", "vboxsf": "a folder shared by VirtualBox", "macfuse": "FUSE", "osxfuse": "FUSE",
}

// fileSystem is the system's name of the kind of file system of a directory; tests change it.
var fileSystem = kindOf

// Weak tells of a directory on a file system on which what is written may not last, or on which two
// machines may write at once; "" where nothing is known against it.
func Weak(dir string) string {
	name, known := far[fileSystem(dir)]
	if !known {
		return ""
	}
	return fmt.Sprintf("%s is on a file system (%s) whose locks and syncs may not count: what was accepted may be lost in a crash, "+
		"and two machines may write at once", dir, name)
}

// Weak tells of the store's own directory.
func (s *Store) Weak() string { return Weak(s.dir) }
