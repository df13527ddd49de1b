package term

import (
	"os"

	"golang.org/x/sys/unix"
)

// Winsize is a terminal's size in cells and, where the terminal tells, in pixels. Zero means "not
// told".
type Winsize struct {
	Rows, Cols     int
	XPixel, YPixel int
}

// Sizes to go by where no terminal tells one.
const (
	DefaultRows = 24
	DefaultCols = 80
)

// Control calls f with a file's descriptor and leaves its blocking mode alone, which Fd would not.
func Control(file *os.File, f func(fd int) error) error {
	raw, err := file.SyscallConn()
	if err != nil {
		return err
	}
	var inner error
	if err := raw.Control(func(fd uintptr) { inner = f(int(fd)) }); err != nil {
		return err
	}
	return inner
}

// SetSize sets a terminal's size, through either side.
func SetSize(f *os.File, w Winsize) error {
	return Control(f, func(fd int) error {
		return unix.IoctlSetWinsize(fd, unix.TIOCSWINSZ, &unix.Winsize{
			Row: clip(w.Rows), Col: clip(w.Cols), Xpixel: clip(w.XPixel), Ypixel: clip(w.YPixel),
		})
	})
}

// GetSize asks a terminal for its size.
func GetSize(f *os.File) (w Winsize, err error) {
	err = Control(f, func(fd int) error {
		ws, err := unix.IoctlGetWinsize(fd, unix.TIOCGWINSZ)
		if err == nil {
			w = Winsize{Rows: int(ws.Row), Cols: int(ws.Col), XPixel: int(ws.Xpixel), YPixel: int(ws.Ypixel)}
		}
		return err
	})
	return w, err
}

func clip(n int) uint16 { return uint16(max(0, min(n, 1<<16-1))) }

// GetModes asks a terminal for its modes.
func GetModes(fd int) (*unix.Termios, error) { return unix.IoctlGetTermios(fd, getTermios) }

// SetModes sets a terminal's modes after pending output. Type-ahead is kept.
func SetModes(fd int, modes *unix.Termios) error {
	return unix.IoctlSetTermios(fd, setTermiosDrain, modes)
}
