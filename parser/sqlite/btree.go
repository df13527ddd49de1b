package sqlite

import (
	"encoding/binary"
	"fmt"
	"math"
	"strings"
)

// Tx is one committed state.
type Tx struct {
	db     *DB
	index  index
	visits uint32 // nodes that a walk has seen
}

const (
	interior  = 5 // kinds of pages of tables
	leaf      = 13
	maxDepth  = 20
	maxRecord = 64 << 20 // bytes; longer rows are Skipped
)

// page reads a page: of the last frame that holds it, else of the database.
func (tx *Tx) page(n uint32) ([]byte, error) {
	if n == 0 || n > tx.index.pages {
		return nil, fmt.Errorf("%w: page %d of %d", errBad, n, tx.index.pages)
	}
	b := make([]byte, tx.index.pageSize)
	for i := len(tx.db.frames); i > 0; i-- {
		if tx.db.frames[i-1] == n {
			_, err := tx.db.wal.ReadAt(b, int64(walHeader+(i-1)*(frameHeader+len(b))+frameHeader))
			return b, err
		}
	}
	_, err := tx.db.file.ReadAt(b, int64(n-1)*int64(len(b)))
	return b, err
}

// node is a page of a table's tree.
type node struct {
	page  []byte
	head  int // where its header is
	cells int
	leaf  bool
}

func (tx *Tx) node(n uint32) (node, error) {
	b, err := tx.page(n)
	if err != nil {
		return node{}, err
	}
	p := node{page: b}
	if n == 1 {
		p.head = 100 // after the database's header
	}
	kind := b[p.head]
	p.leaf, p.cells = kind == leaf, int(binary.BigEndian.Uint16(b[p.head+3:]))
	if kind != leaf && kind != interior || p.first()+2*p.cells > len(b) {
		return node{}, fmt.Errorf("%w: page %d is none of a table", errBad, n)
	}
	return p, nil
}

// first is where the array of cells begins.
func (p node) first() int {
	if p.leaf {
		return p.head + 8
	}
	return p.head + 12
}

// cell is what stands from the cell on; empty when it would be outside.
func (p node) cell(i int) []byte {
	at := int(binary.BigEndian.Uint16(p.page[p.first()+2*i:]))
	if at >= len(p.page) {
		return nil
	}
	return p.page[at:]
}

// child is the i-th child of an interior page and the greatest rowid in it.
func (p node) child(i int) (uint32, int64) {
	if i == p.cells {
		return binary.BigEndian.Uint32(p.page[p.head+8:]), math.MaxInt64
	}
	c := p.cell(i)
	if len(c) < 5 {
		return 0, 0
	}
	key, _ := varint(c[4:])
	return binary.BigEndian.Uint32(c), int64(key)
}

// walk calls row for each row of the tree whose rowid is at least from, in
// order, until it returns false.
func (tx *Tx) walk(root uint32, from int64, depth int, row func(rowid int64, cell []byte) (bool, error)) (bool, error) {
	if tx.visits++; depth > maxDepth || tx.visits > tx.index.pages {
		return false, fmt.Errorf("%w: a tree without end", errBad)
	}
	p, err := tx.node(root)
	if err != nil {
		return false, err
	}
	if !p.leaf {
		for i := range p.cells + 1 {
			child, greatest := p.child(i)
			if greatest < from {
				continue
			}
			if more, err := tx.walk(child, from, depth+1, row); err != nil || !more {
				return false, err
			}
		}
		return true, nil
	}
	for i := range p.cells {
		c := p.cell(i)
		_, n := varint(c) // length of the record
		rowid, m := varint(c[n:])
		if n == 0 || m == 0 {
			return false, fmt.Errorf("%w: a cell without rowid", errBad)
		}
		if int64(rowid) < from {
			continue
		}
		if more, err := row(int64(rowid), c); err != nil || !more {
			return false, err
		}
	}
	return true, nil
}

// last is the greatest rowid of the tree, 0 when it is empty.
func (tx *Tx) last(root uint32) (int64, error) {
	for range maxDepth {
		p, err := tx.node(root)
		if err != nil || p.leaf && p.cells == 0 {
			return 0, err
		}
		if p.leaf {
			c := p.cell(p.cells - 1)
			_, n := varint(c)
			rowid, _ := varint(c[n:])
			return int64(rowid), nil
		}
		root, _ = p.child(p.cells)
	}
	return 0, fmt.Errorf("%w: a tree without end", errBad)
}

// record is the whole record of a leaf's cell, of which the rest stands on
// pages of its own when it is long. It is nil when it is longer than maxRecord.
func (tx *Tx) record(cell []byte) ([]byte, error) {
	size, n := varint(cell)
	_, m := varint(cell[n:])
	cell = cell[n+m:]
	if size > maxRecord {
		return nil, nil
	}
	length, here := int(size), tx.local(int(size))
	if here > len(cell) {
		return nil, fmt.Errorf("%w: a cell over its page's end", errBad)
	}
	if here == length {
		return cell[:here], nil
	}
	if here+4 > len(cell) {
		return nil, fmt.Errorf("%w: a cell over its page's end", errBad)
	}
	record := append(make([]byte, 0, length), cell[:here]...)
	next := binary.BigEndian.Uint32(cell[here:])
	for len(record) < length {
		b, err := tx.page(next)
		if err != nil {
			return nil, err
		}
		next = binary.BigEndian.Uint32(b)
		b = b[4:]
		record = append(record, b[:min(len(b), length-len(record))]...)
	}
	return record, nil
}

// local is how much of a record of that size stands on the leaf itself, see
// "B-tree Cell Format". No page has reserved bytes: page sizes are those of the
// WAL index, and the databases we know reserve none.
func (tx *Tx) local(size int) int {
	usable := tx.index.pageSize
	most, least := usable-35, (usable-12)*32/255-23
	if size <= most {
		return size
	}
	if k := least + (size-least)%(usable-4); k <= most {
		return k
	}
	return least
}

// Value is a column's value: nil, int64, or string (also for a blob). Other
// numbers are nil.
type Value any

// columns reads the record's values.
func columns(record []byte) ([]Value, error) {
	size, n := varint(record)
	if n == 0 || size < uint64(n) || size > uint64(len(record)) {
		return nil, fmt.Errorf("%w: a record without header", errBad)
	}
	header, body := record[n:size], record[size:]
	var values []Value
	for len(header) > 0 {
		kind, n := varint(header)
		if n == 0 {
			return nil, fmt.Errorf("%w: a record's header is cut", errBad)
		}
		header = header[n:]
		length := width(kind)
		if length > uint64(len(body)) {
			return nil, fmt.Errorf("%w: a record is cut", errBad)
		}
		values = append(values, value(kind, body[:length]))
		body = body[length:]
	}
	return values, nil
}

// width is the length of a value of that serial type.
func width(kind uint64) uint64 {
	switch {
	case kind >= 12:
		return (kind - 12) / 2
	case kind <= 4:
		return kind
	case kind == 5:
		return 6
	case kind <= 7:
		return 8
	}
	return 0
}

func value(kind uint64, b []byte) Value {
	switch {
	case kind >= 12:
		return string(b)
	case kind == 8 || kind == 9:
		return int64(kind - 8)
	case kind == 0 || kind >= 7:
		return nil
	}
	n := int64(int8(b[0]))
	for _, c := range b[1:] {
		n = n<<8 | int64(c)
	}
	return n
}

// varint reads a big-endian number of 7 bits a byte, or 8 in its ninth. Its
// length is 0 when b ends first.
func varint(b []byte) (n uint64, length int) {
	for i, c := range b {
		if i == 8 {
			return n<<8 | uint64(c), 9
		}
		n = n<<7 | uint64(c&0x7f)
		if c < 0x80 {
			return n, i + 1
		}
	}
	return 0, 0
}

// names are the columns of a CREATE TABLE statement, in order; those that were
// added later stand behind its constraints.
func names(sql string) []string {
	_, sql, _ = strings.Cut(sql, "(")
	var names []string
	depth, start := 0, true
	for i := 0; i < len(sql) && depth >= 0; i++ {
		switch c := sql[i]; {
		case c == '\'':
			i += 1 + strings.IndexByte(sql[i+1:]+"'", '\'') // to the literal's end
		case c == '(':
			depth++
		case c == ')':
			depth--
		case c == ',' && depth == 0:
			start = true
		case start && !strings.ContainsRune(" \t\r\n", rune(c)):
			end := strings.IndexAny(sql[i+1:], " \t\r\n`\"],)")
			if end < 0 {
				return names
			}
			if word := sql[i : i+1+end]; !constraint(word) {
				names = append(names, strings.Trim(word, "`\"["))
			}
			i, start = i+end, false
		}
	}
	return names
}

// constraint reports whether the word begins a constraint of a table.
func constraint(word string) bool {
	switch strings.ToUpper(word) {
	case "CONSTRAINT", "PRIMARY", "UNIQUE", "CHECK", "FOREIGN":
		return true
	}
	return false
}
