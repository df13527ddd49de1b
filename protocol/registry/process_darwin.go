package registry

// born is not known: macOS has no mount namespaces, in which a wrapper could live that we cannot
// reach.
func born(int) int64 { return 0 }
