// Package near finds the names that may be meant by a word that is none.
package near

import (
	"slices"
	"strings"
)

const (
	most    = 3 // names that are offered
	farther = 2 // letters apart at most
)

// Names are the names that may be meant by a word, the nearest one first, and few of them.
func Names(word string, names []string) []string {
	near := slices.DeleteFunc(slices.Clone(names), func(name string) bool { return !like(word, name) })
	slices.SortStableFunc(near, func(a, b string) int { return apart(word, a) - apart(word, b) })
	near = slices.Compact(near)
	return near[:min(len(near), most)]
}

// like reports whether two names may be meant for each other.
func like(a, b string) bool {
	a, b = strings.ToLower(a), strings.ToLower(b)
	return strings.HasPrefix(b, a) || strings.HasPrefix(a, b) || distance(a, b) <= min(farther, len(a)/2)
}

// apart is the distance of two names, whatever their case.
func apart(a, b string) int { return distance(strings.ToLower(a), strings.ToLower(b)) }

// distance is how many letters are to be put in, left out, changed, or swapped with the next one
// (optimal string alignment).
func distance(a, b string) int {
	table := make([][]int, len(a)+1) // by how much of a and of b
	for i := range table {
		table[i] = make([]int, len(b)+1)
		for j := range table[i] {
			if i == 0 || j == 0 {
				table[i][j] = i + j
				continue
			}
			change := table[i-1][j-1]
			if a[i-1] != b[j-1] {
				change++
			}
			least := min(change, table[i-1][j]+1, table[i][j-1]+1)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				least = min(least, table[i-2][j-2]+1)
			}
			table[i][j] = least
		}
	}
	return table[len(a)][len(b)]
}
