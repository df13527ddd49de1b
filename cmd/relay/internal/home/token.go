package home

import (
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"relay-pty/protocol/own"
)

// tokenBytes are 256 bits.
const tokenBytes = 32

// TokenFile is where the token stands that those show who ask over TCP.
func (h Home) TokenFile() string { return filepath.Join(filepath.Dir(h.Socket), "http.token") }

// Token is what stands in the token's file, which is made when there is none. One that others may
// read or have made is refused.
func (h Home) Token() (string, error) {
	path := h.TokenFile()
	token, err := readToken(path)
	if errors.Is(err, fs.ErrNotExist) {
		if err := makeToken(path); err != nil {
			return "", err
		}
		token, err = readToken(path)
	}
	return token, err
}

func readToken(path string) (string, error) {
	info, err := os.Lstat(path)
	if err != nil {
		return "", err
	}
	if !info.Mode().IsRegular() || info.Mode().Perm()&0o077 != 0 || own.UID(info) != os.Geteuid() {
		return "", fmt.Errorf("%s is no file that you alone can read: remove it, and a new one is made", path)
	}
	b, err := os.ReadFile(path)
	token := strings.TrimSpace(string(b))
	if raw, e := hex.DecodeString(token); err == nil && (e != nil || len(raw) != tokenBytes) {
		err = fmt.Errorf("%s holds no token: remove it, and a new one is made", path)
	}
	return token, err
}

// makeToken writes a new token where none is: it has its name only when it is whole.
func makeToken(path string) error {
	f, err := os.CreateTemp(filepath.Dir(path), ".http.token.*") // 0600
	if err != nil {
		return err
	}
	defer os.Remove(f.Name()) // what is linked stays
	var b [tokenBytes]byte
	rand.Read(b[:]) // never fails
	_, err = f.WriteString(hex.EncodeToString(b[:]) + "\n")
	if err := errors.Join(err, f.Close()); err != nil {
		return err
	}
	if err := os.Link(f.Name(), path); !errors.Is(err, fs.ErrExist) {
		return err
	}
	return nil // another router was faster
}
