// Package metrics writes numbers as Prometheus reads them (text format 0.0.4).
package metrics

import (
	"bytes"
	"fmt"
	"maps"
	"slices"
	"strconv"
)

// Page is written family by family; samples are of the newest one.
type Page struct {
	bytes.Buffer
	name string
}

// Family begins one, of a kind: gauge, counter or histogram.
func (p *Page) Family(name, kind, help string) {
	p.name = name
	fmt.Fprintf(p, "# HELP %s %s\n# TYPE %s %s\n", name, help, name, kind)
}

// Sample writes a value with labels, which are names and values by turns.
func (p *Page) Sample(suffix string, value float64, labels ...string) {
	p.WriteString(p.name + suffix)
	for i := 0; i < len(labels); i += 2 {
		// What Go quotes beyond the format's own three are control characters, which no label has.
		fmt.Fprintf(p, "%c%s=%s", "{,"[min(i, 1)], labels[i], strconv.Quote(labels[i+1]))
	}
	if len(labels) > 0 {
		p.WriteByte('}')
	}
	p.WriteString(" " + strconv.FormatFloat(value, 'g', -1, 64) + "\n")
}

// One is a family of one sample.
func (p *Page) One(name, kind, help string, value float64) {
	p.Family(name, kind, help)
	p.Sample("", value)
}

// By is a family of gauges, each with another value of one label.
func (p *Page) By(name, help, label string, counts map[string]int) {
	p.Family(name, "gauge", help)
	for _, key := range slices.Sorted(maps.Keys(counts)) {
		p.Sample("", float64(counts[key]), label, key)
	}
}
