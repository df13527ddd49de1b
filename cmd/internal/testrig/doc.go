// Package testrig is what tests put around the wrapper: fake agents, a terminal with a human's
// hands, a client for the socket. Nothing here is linked into the wrapper.
//
//	agents    small programs that stand in for agents, with their habits
//	realagent the real agents, set up for a test
//	term      a terminal for them, with a human's hands
//	storm     many wrappers under seeded senders, typists and a nemesis
//	books     checks the books of a storm; shares no rule with the product
//	disk      a hostile disk: crash points and power cuts
//	awkward   seeded messages of awkward shapes, for sweeps on real agents
//
// Package agentrig, beside it, has the real agents, and package fakemodel their model APIs.
//
// # Storms
//
// Wrappers run around fake agents that log every byte, under seeded senders, typists and a nemesis
// that kills, stops, floods and fills disks. Who wrote a byte can be told from the byte: bodies are
// lower case, humans type upper case. The checker of the books is checked by a table of mutants of
// correct books, and by wrappers that break one promise each, see package failpoint.
//
// # Sweeps
//
// Messages of 26 awkward kinds, each made from a seed and a number together with what an agent must
// read of it, go to every real agent in terminals of five sizes. What went wrong is sent again by
// its number (RELAY_SEED, RELAY_SWEEP).
//
// # Crash points
//
// A seccomp listener is asked at every call that changes the state directory, and kills, fails, or
// shortens it. The same record of calls feeds a disk that loses what was not synced, by page or
// sector, sizes and names included; a log without one of its syncs must be caught.
package testrig
