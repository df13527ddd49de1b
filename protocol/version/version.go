// Package version is which release the programs are of.
package version

// Release is set by the linker where a release is built.
var Release = "0.1.0"
