// Package journal keeps on disk what the queue of one agent has promised: accepted messages, what
// became of them, and every event, in one bbolt file.
//
// A commit is on disk when [Journal.Commit] returns, under the journal's name. One goroutine
// commits all that came in during the last commit; whoever accepts a message or begins an attempt
// waits for the commit that holds it, so no number is told twice and no crash takes back what was
// said.
//
// A failed commit proves nothing: the kernel may have dropped what it could not write, or keep what
// it failed to sync. What was proposed in it is refused, and the next commit first writes the file
// anew, as it was after the last commit that did not fail, whose tree bbolt leaves alone, and
// renames it.
//
// A file that lost its name keeps nothing: bbolt writes on into a journal that was removed, and
// syncs it. So before and after each commit the name is compared with the open file (4 µs of the
// 440 of a commit). What lost its name is written anew from the open file, with its lock and its
// directory. While another file has the name, or another owner its lock, nothing is committed.
//
// What is found at the start is synced before it is told, since a run that was killed may have
// written what it could no longer sync; directories that are made are synced with those above them.
// bbolt trusts its file, and takes the older of its two roots when the newer is damaged. So every
// page is inspected at the start, each value carries its bucket, key and checksum, and the file its
// counts. A damaged file is put aside and searched for values; of messages found that way nobody
// can say whether they were delivered. There is no file before the first promise: states alone are
// not worth one.
//
// Bounds: 20,000 events and 32 MiB of them, ended messages for seven days and at most 100,000; the
// oldest go first. The file grows to what that takes and keeps its size until it is next opened.
package journal
