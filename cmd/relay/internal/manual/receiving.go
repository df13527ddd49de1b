package manual

// Receiving is what programs that consume messages can rely on.
const Receiving = `Programs, scripts and harnesses read messages by the log of the router. That log promises:

  Each event has a number, which only grows (seq). Whoever asks for what came after a number gets
  all of it, in order, at least once, over restarts of all parts. Nothing is told before it is on
  disk. Whoever only looks changes nothing, and nobody waits for a slow reader: the log is the
  buffer, and a reader that has stopped reads on later.

What a consumer does:

  Keep a cursor: the seq of the last message that you have done, on disk, moved behind the work.
  After a crash the message in between comes again: where that matters, remember its id.

  Take old messages as a count: --last 20 gives the newest twenty after your cursor, and before
  them, where there are more, a line {"older":12,"cursor_event_seq":345}.

  Expect to lose a cursor: the log keeps 30 days and 1 GiB (retain). A cursor before that, and one
  of another log, which no event here has reached, are refused with the code cursor_gone (exit
  status 1): begin anew with --after 0.

  Decide what interrupts: mode is sequential, important or urgent. A message to an agent is typed
  by its wrapper all the same; what you do with it is a second view.

  End on SIGTERM or SIGHUP: relay recv and relay events do, with all written that came.

How to read:

  relay recv --as ci --consume --json         a cron job: each once, delivered when it is written
  relay recv --as ci --follow --after N --json    a child process that is watched: a line each
  relay events --follow --after N --json      all that happens, to all
  GET /v1/messages?to=ci&after=N&wait=30000   a program, at the router's socket; GET /v1/events
                                              with Accept: text/event-stream follows
                                              (cmd/relay/examples/receive is one in Go)
  relay recv --as ci --after N --wait --json  a shell script, a batch at a time:`
