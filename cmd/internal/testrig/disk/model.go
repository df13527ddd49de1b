package disk

import (
	"bytes"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// Disk is what a disk holds for sure of a directory that began empty, and what it may
// hold besides. Bytes last when their file was synced, names when their directory was.
// Until then any of it may be there: in any order, torn at sectors of 512 bytes, with or
// without the size. After a sync that failed, what it was to write is there or lost for
// good, for the kernel takes it for written.
type Disk struct {
	root   *folder
	top    string
	inodes map[uint64]*file
	rnd    *rand.Rand // decides what a failed sync has written
}

const sector, page = 512, 4096

// node is a file or a directory.
type node interface{ cut(*rand.Rand) any }

type file struct {
	lasts   []byte
	pending []change
	bound   bool // its inode is known
}

// change is a write, or with nil data a new size.
type change struct {
	at   int64
	data []byte
}

type folder struct {
	lasts   map[string]node
	now     map[string]node // as processes see it
	pending []func(map[string]node)
}

func newFolder() *folder { return &folder{lasts: map[string]node{}, now: map[string]node{}} }

// NewDisk is a disk with the empty directory top.
func NewDisk(top string, rnd *rand.Rand) *Disk {
	return &Disk{root: newFolder(), top: top, inodes: map[uint64]*file{}, rnd: rnd}
}

// Do does what a recorded call did.
func (d *Disk) Do(c Call) error {
	switch {
	case c.What == Tell:
		return nil
	case c.What == Sync:
		return d.sync(c)
	case c.Err != 0:
		return nil
	case c.What == Write || c.What == Truncate:
		f, err := d.file(c)
		if err != nil {
			return err
		}
		ch := change{c.Offset, c.Data}
		if c.What == Truncate {
			ch = change{c.Size, nil}
		}
		f.pending = append(f.pending, ch)
		return nil
	}
	return d.name(c)
}

// file is the one that an open descriptor is of. A new one is known by its name until
// then; numbers of inodes are used again.
func (d *Disk) file(c Call) (*file, error) {
	if dir, name, err := d.find(c.Path); err == nil {
		if f, ok := dir.now[name].(*file); ok && !f.bound {
			f.bound, d.inodes[c.File] = true, f
		}
	}
	if f := d.inodes[c.File]; f != nil {
		return f, nil
	}
	return nil, fmt.Errorf("%s of %s, which was not seen to be made", c.What, c.Path)
}

// find is the directory of a path, and the last part of it.
func (d *Disk) find(path string) (*folder, string, error) {
	rel, err := filepath.Rel(d.top, path)
	if err != nil {
		return nil, "", err
	}
	at := d.root
	parts := strings.Split(rel, "/")
	for _, p := range parts[:len(parts)-1] {
		next, ok := at.now[p].(*folder)
		if !ok {
			return nil, "", fmt.Errorf("%s: no directory %s", path, p)
		}
		at = next
	}
	return at, parts[len(parts)-1], nil
}

func (d *Disk) sync(c Call) error {
	dir, name, err := d.find(c.Path)
	if err == nil {
		if name == "." {
			dir.sync(c.Err == 0)
			return nil
		}
		if f, ok := dir.now[name].(*folder); ok {
			f.sync(c.Err == 0)
			return nil
		}
	}
	f, err := d.file(c)
	if err != nil {
		return err
	}
	for _, ch := range f.pending {
		if c.Err == 0 || d.rnd.IntN(2) == 0 {
			f.lasts = ch.on(f.lasts)
		}
	}
	f.pending = nil
	return nil
}

func (f *folder) sync(ok bool) {
	if ok { // else the changes stay, and may come to the disk or not
		f.pending, f.lasts = nil, maps.Clone(f.now)
	}
}

// name does what changes names.
func (d *Disk) name(c Call) error {
	dir, name, err := d.find(c.Path)
	if err != nil {
		return err
	}
	switch c.What {
	case Create:
		dir.put(name, &file{})
	case Mkdir:
		dir.put(name, newFolder())
	case Remove:
		dir.do(func(m map[string]node) { delete(m, name) })
	case Rename, Link:
		to, as, err := d.find(c.To)
		if err != nil {
			return err
		}
		what := dir.now[name]
		if what == nil || to != dir {
			return fmt.Errorf("%s of %s to %s", c.What, c.Path, c.To)
		}
		dir.do(func(m map[string]node) {
			if m[as] = what; c.What == Rename {
				delete(m, name)
			}
		})
	default:
		return fmt.Errorf("unknown call %s", c.What)
	}
	return nil
}

func (f *folder) put(name string, n node) { f.do(func(m map[string]node) { m[name] = n }) }

func (f *folder) do(op func(map[string]node)) {
	op(f.now)
	f.pending = append(f.pending, op)
}

// on returns content with the change.
func (ch change) on(content []byte) []byte {
	if ch.data == nil {
		return resize(content, ch.at)
	}
	content = resize(content, max(int64(len(content)), ch.at+int64(len(ch.data))))
	copy(content[ch.at:], ch.data)
	return content
}

func resize(b []byte, size int64) []byte {
	if size <= int64(len(b)) {
		return b[:size]
	}
	return append(b, make([]byte, size-int64(len(b)))...)
}

// Tree is a directory as a power cut leaves it: a file is []byte, a directory a Tree.
type Tree map[string]any

// Cut is what the disk may hold if the power fails now.
func (d *Disk) Cut(rnd *rand.Rand) Tree { return d.root.cut(rnd).(Tree) }

// some is which of n changes, in their order, came to the disk: none, all, the first, or any.
func some(n int, rnd *rand.Rand) func(i int) bool {
	switch kind, first, odds := rnd.IntN(4), rnd.IntN(n+1), rnd.Float64(); kind {
	case 0:
		return func(int) bool { return false }
	case 1:
		return func(int) bool { return true }
	case 2:
		return func(i int) bool { return i < first }
	default:
		return func(int) bool { return rnd.Float64() < odds }
	}
}

func (f *folder) cut(rnd *rand.Rand) any {
	names := maps.Clone(f.lasts)
	there := some(len(f.pending), rnd)
	for i, op := range f.pending {
		if there(i) {
			op(names)
		}
	}
	tree := Tree{}
	for _, name := range slices.Sorted(maps.Keys(names)) { // in an order that a seed repeats
		tree[name] = names[name].cut(rnd)
	}
	return tree
}

func (f *file) cut(rnd *rand.Rand) any {
	content := bytes.Clone(f.lasts)
	var parts []change
	block := []int{sector, page, 1 << 30}[rnd.IntN(3)] // what is written at once
	for _, ch := range f.pending {
		parts = append(parts, ch.split(block)...)
	}
	there := some(len(parts), rnd)
	for i, ch := range parts {
		if there(i) {
			content = ch.on(content)
		}
	}
	if len(content) > len(f.lasts) && rnd.IntN(4) == 0 {
		content = content[:len(f.lasts)] // the data came to the disk, the size did not
	}
	return content
}

// split cuts a write at the blocks of the file.
func (ch change) split(block int) (parts []change) {
	if ch.data == nil {
		return []change{ch}
	}
	for at, rest := ch.at, ch.data; len(rest) > 0; {
		n := min(len(rest), block-int(at)%block)
		parts = append(parts, change{at, rest[:n]})
		at, rest = at+int64(n), rest[n:]
	}
	return parts
}

// Write makes the tree's files in a directory.
func (t Tree) Write(dir string) error {
	for name, n := range t {
		path := filepath.Join(dir, name)
		var err error
		switch n := n.(type) {
		case Tree:
			if err = os.Mkdir(path, 0o700); err == nil {
				err = n.Write(path)
			}
		case []byte:
			err = os.WriteFile(path, n, 0o600)
		}
		if err != nil {
			return err
		}
	}
	return nil
}
