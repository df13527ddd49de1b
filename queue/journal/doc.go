// Package journal keeps on disk what the queue of one agent has promised: accepted messages, what
// became of them, and every event, in one file that only grows.
//
// A commit is one frame behind the others (frame.go). It is on disk when [Journal.Commit] returns,
// under the journal's name: whoever accepts a message or begins an attempt waits for the commit
// that holds it, so no number is told twice and no crash takes back what was said.
//
// A failed commit proves nothing: the kernel may have dropped what it could not write, or keep what
// it failed to sync. What was proposed in it is refused, and the next commit first writes the file
// anew, with what it held after the last commit that did not fail, and renames it.
//
// A file that lost its name keeps nothing: writes and syncs go on to succeed. So before and after
// each commit the name is compared with the open file. What lost its name is written anew from the
// open file, with its lock and its directory. While another file has the name, or another owner its
// lock, nothing is committed.
//
// What is found at the start is synced before it is told, since a run that was killed may have
// written what it could no longer sync; directories that are made are synced with those above them.
// A commit that was cut short is left out: nobody was told of it. Anything else that is wrong with
// a file is damage: it is put aside, and what it still holds is taken over; of messages found that
// way nobody can say whether they were delivered. There is no file before the first promise: states
// alone are not worth one.
//
// Bounds: 20,000 events and 32 MiB of them, ended messages for seven days and at most 125,000; the
// oldest go first. The file is written anew when more than half of it, and 1 MiB, is not kept any
// more.
package journal
