package journal

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"hash/fnv"
	"math"
	"os"
)

// pages is a bbolt file as it lies on disk. bbolt trusts what it reads: with a damaged
// file it may panic, turn in a circle, or write over what is in use. So every page is
// looked at before bbolt is let at it. The format is that of its internal/common, in the
// byte order of the machine.
type pages struct {
	file []byte
	size int    // of a page
	used []bool // pages that were met on the way, or are told to be free
}

// A page's header, and the sizes of what lies behind it.
const (
	pageID, pageFlags, pageCount, pageOverflow, pageHeader = 0, 8, 10, 12, 16

	isBranch, isLeaf, isMeta, isFree = 0x01, 0x02, 0x04, 0x10

	branchElement, leafElement, bucketHeader = 16, 16, 16

	metaSum  = 56 // checksum, FNV-1a of what is before it
	metaMark = 0xED0CDAED
)

var order = binary.NativeEndian

func hurt(format string, args ...any) error {
	return fmt.Errorf("%w: %s", errDamaged, fmt.Sprintf(format, args...))
}

// walk calls f with every key and value, bucket by bucket, in the order of the keys, as
// they were after the commit of that number; after the newest if the number is larger.
func walk(file []byte, commit uint64, f func(bucket string, key, value []byte) error) error {
	p := &pages{file: file, size: pageSize(file)}
	meta, err := p.meta(commit)
	if err != nil {
		return err
	}
	p.used = make([]bool, order.Uint64(meta[40:]))
	p.used[0], p.used[1] = true, true
	err = p.tree(order.Uint64(meta[16:]), nil, nil, func(name, value []byte, bucket bool) error {
		if !bucket || len(value) < bucketHeader {
			return hurt("%q is no bucket", name)
		}
		entry := func(key, value []byte, bucket bool) error {
			if bucket {
				return hurt("a bucket in a bucket")
			}
			return f(string(name), key, value)
		}
		if root := order.Uint64(value); root != 0 {
			return p.tree(root, nil, nil, entry)
		}
		return p.elements(value[bucketHeader:], nil, nil, entry)
	})
	if err != nil {
		return err
	}
	if err := p.free(order.Uint64(meta[32:])); err != nil {
		return err
	}
	for id, used := range p.used {
		if !used {
			return hurt("page %d is neither free nor in use", id)
		}
	}
	return nil
}

// meta tells where the tree of a commit begins: of its two pages the newer that is not
// newer than that. Both must be sound when the newest is asked for: bbolt would take the
// older one if that is damaged, and lose a commit without a word.
func (p *pages) meta(commit uint64) (newest []byte, err error) {
	if len(p.file) < 4*p.size {
		return nil, hurt("%d bytes are no file", len(p.file))
	}
	for id := range uint64(2) {
		meta, err := p.metaAt(id)
		switch {
		case err != nil && commit == math.MaxUint64:
			return nil, err
		case err != nil || order.Uint64(meta[48:]) > commit:
		case newest == nil || order.Uint64(meta[48:]) > order.Uint64(newest[48:]):
			newest = meta
		}
	}
	if newest == nil {
		return nil, hurt("nothing is left of commit %d", commit)
	}
	if high := order.Uint64(newest[40:]); high < 4 || high > uint64(len(p.file)/p.size) {
		return nil, hurt("%d pages in %d bytes", high, len(p.file))
	}
	return newest, nil
}

// pageSize is what a sound meta page says, for the file may have been made on a machine with pages
// of another size; else ours. As bbolt does, it looks for the second page where it would be.
func pageSize(file []byte) int {
	for size := 1024; 4*size <= len(file); size *= 2 {
		p := pages{file: file, size: size}
		for id := range uint64(2) {
			if _, err := p.metaAt(id); err == nil {
				return size
			}
		}
	}
	return os.Getpagesize()
}

func (p *pages) metaAt(id uint64) ([]byte, error) {
	page := p.file[id*uint64(p.size):]
	meta := page[pageHeader:]
	h := fnv.New64a()
	h.Write(meta[:metaSum])
	if order.Uint64(page) != id || order.Uint16(page[pageFlags:]) != isMeta || order.Uint32(meta) != metaMark ||
		order.Uint32(meta[8:]) != uint32(p.size) || order.Uint64(meta[metaSum:]) != h.Sum64() {
		return nil, hurt("meta page %d", id)
	}
	return meta, nil
}

// page returns a page with what it overflows into; each may be met once.
func (p *pages) page(id uint64) ([]byte, error) {
	if id >= uint64(len(p.used)) {
		return nil, hurt("page %d is out of the file", id)
	}
	page := p.file[id*uint64(p.size):]
	n := 1 + uint64(order.Uint32(page[pageOverflow:]))
	if order.Uint64(page) != id || id+n > uint64(len(p.used)) {
		return nil, hurt("page %d", id)
	}
	for i := id; i < id+n; i++ {
		if p.used[i] {
			return nil, hurt("page %d is used twice", i)
		}
		p.used[i] = true
	}
	return page[:n*uint64(p.size)], nil
}

type visit func(key, value []byte, bucket bool) error

func (p *pages) tree(id uint64, least, bound []byte, f visit) error {
	page, err := p.page(id)
	if err != nil {
		return err
	}
	return p.elements(page, least, bound, f)
}

// elements visits what a page holds: keys from least on, before bound unless it is nil.
func (p *pages) elements(page, least, bound []byte, f visit) error {
	if len(page) < pageHeader {
		return hurt("a page of %d bytes", len(page))
	}
	flags, count := order.Uint16(page[pageFlags:]), int(order.Uint16(page[pageCount:]))
	if flags != isBranch && flags != isLeaf || pageHeader+count*leafElement > len(page) {
		return hurt("page of kind %d with %d elements", flags, count)
	}
	key := func(i int) ([]byte, []byte, error) { return element(page, i, flags) }
	for i := range count {
		k, value, err := key(i)
		if err != nil {
			return err
		}
		last := bound
		if i+1 < count {
			if last, _, err = key(i + 1); err != nil {
				return err
			}
		}
		if bytes.Compare(k, least) < 0 || last != nil && bytes.Compare(k, last) >= 0 {
			return hurt("key %q is out of order", k)
		}
		e := page[pageHeader+i*leafElement:]
		if flags == isBranch {
			err = p.tree(order.Uint64(e[8:]), k, last, f)
		} else {
			err = f(k, value, order.Uint32(e) == 1)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// element is the key of an element, and the value where it has one.
func element(page []byte, i int, flags uint16) (key, value []byte, err error) {
	at := pageHeader + i*leafElement
	e := page[at:]
	var pos, k, v uint32
	if flags == isBranch {
		pos, k = order.Uint32(e), order.Uint32(e[4:])
	} else {
		pos, k, v = order.Uint32(e[4:]), order.Uint32(e[8:]), order.Uint32(e[12:])
		if order.Uint32(e) > 1 {
			return nil, nil, hurt("element of kind %d", order.Uint32(e))
		}
	}
	from := uint64(at) + uint64(pos)
	mid := from + uint64(k)
	if end := mid + uint64(v); end > uint64(len(page)) {
		return nil, nil, hurt("element outside of its page")
	}
	return page[from:mid], page[mid : mid+uint64(v)], nil
}

// free marks the pages that the list of free ones names.
func (p *pages) free(id uint64) error {
	page, err := p.page(id)
	if err != nil {
		return err
	}
	if order.Uint16(page[pageFlags:]) != isFree {
		return hurt("page %d is not the list of free ones", id)
	}
	ids, n := page[pageHeader:], uint64(order.Uint16(page[pageCount:]))
	if n == 0xFFFF {
		n, ids = order.Uint64(ids), ids[8:]
	}
	if n > uint64(len(ids)/8) {
		return hurt("%d free pages", n)
	}
	for ; n > 0; n, ids = n-1, ids[8:] {
		at := order.Uint64(ids)
		if at >= uint64(len(p.used)) || p.used[at] {
			return hurt("page %d is free and in use", at)
		}
		p.used[at] = true
	}
	return nil
}
