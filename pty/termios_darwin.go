package pty

const (
	unreadInput  = 0x4004667f // FIONREAD, from <sys/filio.h>
	disabledChar = 0xff       // a control character that is switched off
)
