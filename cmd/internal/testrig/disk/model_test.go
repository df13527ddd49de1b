package disk

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"syscall"
	"testing"
)

// left is every tree that many cuts after these calls leave, as text.
func left(t *testing.T, calls ...Call) []string {
	t.Helper()
	rnd := rand.New(rand.NewPCG(1, 2))
	seen := map[string]bool{}
	for range 2000 {
		d := NewDisk("/d", rnd)
		for _, c := range calls {
			if err := d.Do(c); err != nil {
				t.Fatal(err)
			}
		}
		seen[show(d.Cut(rnd))] = true
	}
	var all []string
	for s := range seen {
		all = append(all, s)
	}
	slices.Sort(all)
	return all
}

// show is a tree, each file as the first bytes of its sectors.
func show(tree Tree) string {
	var parts []string
	for name, n := range tree {
		switch n := n.(type) {
		case Tree:
			parts = append(parts, name+"/"+show(n))
		case []byte:
			s := ""
			for at := 0; at < len(n); at += sector {
				s += string(max('.', n[at]))
			}
			parts = append(parts, name+"="+s)
		}
	}
	slices.Sort(parts)
	return strings.Join(parts, " ")
}

func sectors(s string) (b []byte) {
	for _, c := range s {
		b = append(b, bytes.Repeat([]byte{byte(c)}, sector)...)
	}
	return b
}

func TestCuts(t *testing.T) {
	made := []Call{{What: Create, Path: "/d/a"}, {What: Write, Path: "/d/a", File: 7, Data: sectors("x")},
		{What: Sync, Path: "/d/a", File: 7}, {What: Sync, Path: "/d"}}
	write := func(at int64, s string) Call {
		return Call{What: Write, Path: "/d/a", File: 7, Offset: at * sector, Data: sectors(s)}
	}
	sync := Call{What: Sync, Path: "/d/a", File: 7}
	failed := sync
	failed.Err = syscall.EIO
	for name, c := range map[string]struct {
		calls []Call
		want  []string
	}{
		"synced lasts":                    {made, []string{"a=x"}},
		"a name needs its directory":      {made[:3], []string{"", "a=x"}},
		"bytes need a sync":               {append(slices.Clone(made[:2]), made[3]), []string{"a=", "a=x"}},
		"a write is torn and reordered":   {append(slices.Clone(made), write(0, "yz")), []string{"a=x", "a=xz", "a=y", "a=yz"}},
		"of a failed sync, all is doubt":  {append(slices.Clone(made), write(0, "y"), failed, sync), []string{"a=x", "a=y"}},
		"a rename is whole":               {append(slices.Clone(made), Call{What: Rename, Path: "/d/a", To: "/d/b"}), []string{"a=x", "b=x"}},
		"a directory's own name":          {[]Call{{What: Mkdir, Path: "/d/e"}, {What: Create, Path: "/d/e/f"}, {What: Sync, Path: "/d/e"}}, []string{"", "e/f="}},
		"a new size may be lost or alone": {append(slices.Clone(made), Call{What: Truncate, Path: "/d/a", File: 7, Size: 2 * sector}), []string{"a=x", "a=x."}},
	} {
		t.Run(name, func(t *testing.T) {
			if got := left(t, c.calls...); fmt.Sprint(got) != fmt.Sprint(c.want) {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
}
