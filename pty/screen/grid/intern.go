package grid

// interner gives small numbers to values and takes them back. Id 0 is the zero
// value and is never taken back.
type interner[K comparable] struct {
	limit int // how many values add may hold
	index map[K]uint32
	items []K // by id; the zero value where the id is free
	free  []uint32
	rest  int // calls of add to refuse before room is looked for again
}

func newInterner[K comparable](limit int) interner[K] {
	return interner[K]{limit: limit, index: map[K]uint32{}, items: make([]K, 1)}
}

// add returns the id of k. When the limit is reached it asks sweep which ids are
// in use; when all are, it says false. The cost of sweeps is spread: after one
// that freed little, add refuses for a while.
func (n *interner[K]) add(k K, sweep func() (inUse []bool)) (uint32, bool) {
	if id, ok := n.index[k]; ok {
		return id, true
	}
	if len(n.free) == 0 && len(n.items) >= n.limit {
		if n.rest > 0 {
			n.rest--
			return 0, false
		}
		n.keep(sweep())
		if len(n.free) < n.limit/4 {
			n.rest = n.limit / 4
		}
		if len(n.free) == 0 {
			return 0, false
		}
	}
	return n.force(k), true
}

// force returns the id of k whatever the limit.
func (n *interner[K]) force(k K) uint32 {
	var zero K
	if k == zero {
		return 0
	}
	if id, ok := n.index[k]; ok {
		return id
	}
	id := uint32(len(n.items))
	if last := len(n.free) - 1; last >= 0 {
		id = n.free[last]
		n.free = n.free[:last]
		n.items[id] = k
	} else {
		n.items = append(n.items, k)
	}
	n.index[k] = id
	return id
}

// keep frees every id but those in use.
func (n *interner[K]) keep(inUse []bool) {
	var zero K
	for id := 1; id < len(n.items); id++ {
		if k := n.items[id]; k != zero && !inUse[id] {
			delete(n.index, k)
			n.items[id] = zero
			n.free = append(n.free, uint32(id))
		}
	}
}
