package rig

import "regexp"

// Files is the text with the names of files as Gemini CLI, and Qwen Code which came of it, complete
// them on their way to the model: of "@work" they make "@work.txt", put a blank before it, and drop
// what white space alone parts two of them. So white space before a name counts on neither side.
func Files(text string) string { return resolved.ReplaceAllString(text, "@$1") }

var resolved = regexp.MustCompile(`\s*@(\w+)(?:\.txt)?\b`)
