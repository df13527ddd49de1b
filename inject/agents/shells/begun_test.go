package shells

import "testing"

func TestBegun(t *testing.T) {
	for _, c := range []struct {
		of          string
		begun, over []string
	}{
		{"bash", []string{
			"echo \"open\n", "echo 'open\n", "echo 'open\nand \"more\n", "cat <<EOF\n", "cat <<EOF\na\n", "cat <<-'E F' | cat\nit's\n", "echo a \\\n",
			"for i in 1; do\n", "while true\n", "if a; then\n", "case a in\n", "case a in a) true;;\n", "echo $(\n", "echo \"$(echo \"\n", "echo |\n",
			"true &&\n", "f() {\n", "{ true\n", "(true\n", "a=(1\n", "echo `a\n", "echo ${x\n", "echo $((1+\n", "echo $'it\\'s\n", "for i in 1\ndo\n", "diff <(a\n",
		}, []string{
			"\n", "ls\n", "# it's\n", "true # it's \"so\n", "true it\\'s \"it's\" $'it\\'s' '\"' \"\\\"\" `true` $((1<<2)) ${x:-\"}\"}\n", "true \"a\nb'\"\n",
			"true <<EOF\nit's\nEOF\n", "cat <<-E\nx\n\tE\n", "true <<<\"a\"\n", "for i in 1; do\ntrue; done\n", "case a in a) true;; (b) true;; esac\n",
			"true if for case { ( && echo\n", "true )\n", "echo a \\\nb\n", "f() { true; }\n", "echo done fi }\n", "if a; done\n", "(true)\n", "a=(1 2)\n",
			"echo \"$(echo \"a\")\"\n", "if a; then b; elif c; then d; else e; fi\n", "while a; do b; done | c\n", "git commit -m 'a' &\n", "x=\"a#b\" y='#'\n", "((1<<2))\n",
			"diff <(a) <(b)\n", "echo $# ${#x} a#b's'\n", "[ a = b ] || c\n", "until false; do break; done &\n",
		}},
		{"python", []string{"'''\n", "x = (\n", "if 1:\n", "if 1:\n x\n", "def f(): pass\n", "x = \"\"\"a'\n", "a \\\n", "@x\n", "{'a': [\n"}, []string{
			"\n", "x = 1 # it's (\n", "if 1:\n x = {'a': \"it's\"}\n\n", "x = ''' a\n'''\n", "x = (1,\n2)\n", "x = 'a\n", "x = '\\''\n", "x[1:2]\n", "# '''\n", "a = \"\"\n",
		}},
		{"sqlite3", []string{"select '\n", "/* a\n", "select 1\n", "select 1; select\n", "select \"a;\n"}, []string{
			"\n", "select 1;\n", "create table t(a); -- it's\n", ".headers on\n", "select ';';\n", "-- it's\n", "/* ' */\n", ".print 'a\nselect 1;\n",
		}},
		{"psql", []string{"select '\n", "select (1;\n", "select 1\n", "select $$a;\n", "select 1 \\x\n"}, []string{
			"\\set x 'it''s'\n", "set timezone = 'UTC';\n", "select 1 \\g\n", "select 1\n\\r\n", "\\echo it's\n", "help\n", "do $$ begin; end $$;\n",
		}},
	} {
		p, _ := For([]string{c.of})
		for _, text := range c.begun {
			if !p.Begun(text) {
				t.Errorf("%s: %q is over, want begun", c.of, text)
			}
		}
		for _, text := range c.over {
			if p.Begun(text) {
				t.Errorf("%s: %q is begun, want over", c.of, text)
			}
		}
	}
}

func FuzzBegun(f *testing.F) {
	f.Add("echo \"$(cat <<E | `x`\n'${a\\\n")
	f.Fuzz(func(t *testing.T, text string) {
		for _, d := range dialects {
			if d.begun != nil {
				d.begun(text + "\n") // ends, and panics nowhere
			}
		}
	})
}
