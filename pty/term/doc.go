// Package term is the human's terminal, or what stands in its place: its modes, its size, its keys,
// and the shell's job control around us. It also has the little that any terminal line, the agent's
// too, needs asked and set. It starts no goroutines; its loops belong to their callers, and nothing
// ends a blocked read: [Terminal.CopyKeys] cannot be joined.
//
// # Job control
//
// A program that is first in its session cannot stop itself: the kernel ignores its SIGTSTP, and a
// program that waits for its shell's SIGCONT would sleep for ever. After a Ctrl-Z that left the
// agent's terminal in line mode, the wrapper stops the agent and its own job, if a shell can
// continue it, and later continues the agent.
//
// A shell gets its prompt back when the process that it started stops, and a stopped process has a
// deaf socket. So where a shell could stop the wrapper (its group is a job, keys come from a
// terminal), the wrapper starts itself anew as a child in the same process group and replaces
// itself by a small shell, the front. The front has the number that the user's shell knows. It
// hands signals on, stops the whole group at the wrapper's word, reports that it was continued, and
// ends with the wrapper's exit status. No byte passes through it. The wrapper hears of a stop by
// its own deed or by SIGTSTP, which the front reports through its pipe (as a signal it could come
// when the stop is over); a SIGSTOP shows by a terminal that another group has, which the wrapper
// asks for with each piece of output. While the job is stopped so is
// the agent, and keys and output are held, because the terminal is the shell's then. A group that
// was continued in the background is stopped again as soon as it wants the terminal.
//
// A child that is stopped before it has become another program holds its parent in vfork(2), and a
// shell would wait for both for ever. So SIGTSTP is ignored while the front is made. An agent in
// vfork cannot be seen to stop, so what the wrapper made stand still counts as stopped. An agent
// that is slow to stop itself after a Ctrl-Z is waited for until it has neither read nor written
// for three seconds, half a minute at most.
//
// A program that was started in the background finds the settings of a shell's line editor on the
// terminal, not the terminal's own. Draining the terminal first makes the kernel stop it until it
// is in the foreground.
//
// # After a crash
//
// A process that is killed cannot tidy up. So a shell, the guardian (0.3 MB), reads from a pipe
// what has to be written to the terminal if the wrapper dies now, which the wrapper computes from
// the screen. The end of the pipe is the wrapper's death; a report of the Go runtime on the pipe is
// a crash, and the crashing wrapper waits until the terminal is put right, because bash and zsh
// take the modes that a program leaves when it exits for wanted. The front is this guardian.
// Without a front the guardian is a process in a session of its own, which the wrapper ends with
// SIGKILL before it ends. Line settings are restored only if they are still those that the wrapper
// set, since a shell may have the terminal again. When the front is killed, the wrapper does for it
// what it would have done.
package term
