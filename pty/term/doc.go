// Package term is the human's terminal, or what stands in its place: its modes, its size, its keys, and the shell's job control around us. It also
// has the little that any terminal line, the agent's too, needs asked and set. It starts no goroutines; its loops belong to their callers, and
// nothing ends a blocked read: [Terminal.CopyKeys] cannot be joined.
package term
