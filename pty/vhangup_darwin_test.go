package pty

import "errors"

func vhangup() error { return errors.ErrUnsupported }
