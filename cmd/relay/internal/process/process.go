// Package process looks at other processes of this machine.
package process
