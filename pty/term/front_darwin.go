package term

// Begin returns nil: here a Ctrl-Z stops us.
func Begin() (*Front, error) { return nil, nil }

// stopped is never asked, for there is no front.
func (f *Front) stopped() bool { return false }

// unstopped is never called, for there is no front.
func unstopped(f func() error) error { return f() }
