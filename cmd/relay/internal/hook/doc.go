// Package hook is what an agent runs at moments of its own: it tells the agent's wrapper how the
// agent is, and hands over messages that cannot be typed at that moment. Which agent has which
// moments, and what is done then, is data of inject/profile.
//
// A hook never fails and never keeps the agent: whatever goes wrong, it ends as if it had nothing
// to say. Hooks are the agent's time: they start no router and build no commands first (5 ms, as
// long as a start of the program), and end after half a second whatever the wrapper does. The shell
// that runs them ends well even when our program does not: a crash of Go's runtime has the status
// 2, which is an agent's veto.
//
// A hook is a process that ends, so a lease belongs to the agent and not to a connection: any hook
// of the agent's may acknowledge, and whether a consumer that is gone had done its work is told by
// the agent's log alone. A hook knows nothing of what becomes of its words, so none of ours
// acknowledges: Claude Code writes into its log what context it took from a hook, and what woke it,
// as a part of the turn. Context over 10,000 characters it cuts, so a hook asks for less; what
// wakes it comes whole. Waiters pile up: a hook that waits for messages may outlive whoever would
// hear it, so of two that wait the later one counts, and what it waits for is not typed.
package hook
