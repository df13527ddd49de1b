package process

// Stopped reports whether a process is stopped, as by SIGSTOP. One that somebody traces is not.
func Stopped(pid int) bool {
	is := stat(pid)
	return is != nil && is[state] == "T"
}
