//go:build !linux

package storm

var systemStrikes map[string]strike

func ownDisk(string) error { return nil }

func dropDisk(string) error { return nil }
