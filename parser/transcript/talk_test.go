package transcript

import "testing"

func TestTalk(t *testing.T) {
	for script, want := range map[string]bool{
		"relay ls":                                           true,
		"relay send bob 'it is done; rm -rf'":                true,
		`relay send bob "a \"b\" && c"`:                      true,
		"relay send bob hi && relay ls":                      true,
		"/usr/local/bin/relay send bob hi;":                  true,
		"RELAY_X=1 relay ls 2>&1":                            true,
		"relay ls > /dev/null 2>/dev/null":                   true,
		"relay recv | relay send bob -":                      true,
		"relay send bob \\\n  hi":                            true,
		"# tell him\nrelay send bob hi # done":               true,
		"relay send bob - <<'EOF'\nmake `all` $(now)\nEOF\n": true,
		"relay send bob - <<EOF\nplain\nEOF\nrelay ls":       true,
		"relay send bob - <<-EOF\n\tplain\n\tEOF\nmake":      false,
		"relay send bob - <<EOF\n$(make)\nEOF\n":             false,
		"relay send bob \"$(git diff)\"":                     false,
		"relay send bob `make`":                              false,
		"relay send bob '`make`'":                            true,
		"git diff | relay send bob -":                        false,
		"relay send bob hi && make":                          false,
		"make && relay send bob done":                        false,
		"relay log > notes.txt":                              false,
		"relay send bob <(make)":                             false,
		"(relay ls)":                                         false,
		"relayed ls":                                         false,
		"X=1":                                                false,
		"":                                                   false,
		"relay send bob 'open":                               false,
		"cd /x && relay ls":                                  false,
		"relay-pty --version":                                false,
		"relay send bob hi\nmake":                            false,
		"relay ls &> /dev/null":                              true,
		"relay send bob - <<< done":                          true,
		"relay send bob - <<EOF && make\ntext\nEOF":          false,
		"relay send bob - << 'E'\nmake\nE\nrelay ls; relay reply m1 ok": true,
	} {
		if got := Talk(script); got != want {
			t.Errorf("%q is talk: %v, want %v", script, got, want)
		}
	}
}

func FuzzTalk(f *testing.F) {
	f.Add("relay send bob - <<'EOF'\n`\nEOF\n&& 2>&1 \"$(")
	f.Fuzz(func(t *testing.T, script string) {
		if Talk(script) && Talk(script+"\nmake") && !Talk("relay "+script) {
			t.Errorf("%q", script)
		}
	})
}
