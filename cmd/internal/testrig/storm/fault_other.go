//go:build !linux

package storm

func systemKinds() []string { return nil }

func systemStrikes() map[string]strike { return nil }

func ownDisk(string) error { return nil }

func dropDisk(string) error { return nil }
