package sqlite

import (
	"encoding/binary"
	"fmt"
	"slices"
)

// Table is a table in one committed state.
type Table struct {
	tx    *Tx
	root  uint32
	names []string
}

// Row is a row. Of one that is longer than 64 MiB nothing is read: Skipped.
type Row struct {
	ID      int64
	Skipped bool

	names  []string
	values []Value
}

// Text is the text of a column, "" when it has none.
func (r Row) Text(column string) string {
	text, _ := r.value(column).(string)
	return text
}

// Int is the integer of a column, 0 when it has none.
func (r Row) Int(column string) int64 {
	n, _ := r.value(column).(int64)
	return n
}

// value is nil also for columns that were added after the row was written.
func (r Row) value(column string) Value {
	if i := slices.Index(r.names, column); i >= 0 && i < len(r.values) {
		return r.values[i]
	}
	return nil
}

// Table finds a table by its name. The error tells when there is none.
func (tx *Tx) Table(name string) (Table, error) {
	if err := tx.check(); err != nil {
		return Table{}, err
	}
	schema := Table{tx: tx, root: 1, names: []string{"type", "name", "tbl_name", "rootpage", "sql"}}
	found := Table{}
	err := schema.Rows(0, func(r Row) (bool, error) {
		if r.Text("type") != "table" || r.Text("name") != name {
			return true, nil
		}
		found = Table{tx: tx, root: uint32(r.Int("rootpage")), names: names(r.Text("sql"))}
		return false, nil
	})
	if err == nil && found.root == 0 {
		err = fmt.Errorf("no table %s", name)
	}
	return found, err
}

// check refuses a database that is written in a way that we do not know.
func (tx *Tx) check() error {
	head, err := tx.page(1)
	if err != nil {
		return err
	}
	if string(head[:16]) != "SQLite format 3\x00" || head[20] != 0 || binary.BigEndian.Uint32(head[56:]) != 1 {
		return fmt.Errorf("%w: unknown kind", errBad)
	}
	return nil
}

// Rows calls row for each row from rowid from on, in their order, until it
// returns false.
func (t Table) Rows(from int64, row func(Row) (bool, error)) error {
	t.tx.visits = 0
	_, err := t.tx.walk(t.root, from, 0, func(rowid int64, cell []byte) (bool, error) {
		record, err := t.tx.record(cell)
		if err != nil {
			return false, err
		}
		r := Row{ID: rowid, Skipped: record == nil, names: t.names}
		if !r.Skipped {
			if r.values, err = columns(record); err != nil {
				return false, err
			}
		}
		return row(r)
	})
	return err
}

// Last is the greatest rowid, 0 when there is no row.
func (t Table) Last() (int64, error) { return t.tx.last(t.root) }
