package parser

import "unicode"

// invisible are the characters that show nothing by themselves:
// Default_Ignorable_Code_Point, and of the format characters (Cf) all others but those that
// stand before digits and show (Prepended_Concatenation_Mark).
var invisible = &unicode.RangeTable{
	R16: []unicode.Range16{
		{0x00ad, 0x00ad, 1}, {0x034f, 0x034f, 1}, {0x061c, 0x061c, 1}, {0x115f, 0x1160, 1},
		{0x17b4, 0x17b5, 1}, {0x180b, 0x180f, 1}, {0x200b, 0x200f, 1}, {0x202a, 0x202e, 1},
		{0x2060, 0x206f, 1}, {0x3164, 0x3164, 1}, {0xfe00, 0xfe0f, 1}, {0xfeff, 0xfeff, 1},
		{0xffa0, 0xffa0, 1}, {0xfff0, 0xfffb, 1},
	},
	R32: []unicode.Range32{
		{0x13430, 0x1343f, 1}, {0x1bca0, 0x1bca3, 1}, {0x1d173, 0x1d17a, 1}, {0xe0000, 0xe0fff, 1},
	},
}

// pictographs are the symbols that UTS #51 makes emoji of (Extended_Pictographic), flags'
// letters and skin tones, by the blocks in which they stand; other symbols that stand there
// show as well.
var pictographs = &unicode.RangeTable{
	R16: []unicode.Range16{
		{0x00a9, 0x00a9, 1}, {0x00ae, 0x00ae, 1}, {0x203c, 0x203c, 1}, {0x2049, 0x2049, 1},
		{0x2122, 0x2122, 1}, {0x2139, 0x2139, 1}, {0x2190, 0x21ff, 1}, {0x2300, 0x23ff, 1},
		{0x24c2, 0x24c2, 1}, {0x25a0, 0x27bf, 1}, {0x2900, 0x297f, 1}, {0x2b00, 0x2bff, 1},
		{0x3030, 0x3030, 1}, {0x303d, 0x303d, 1}, {0x3297, 0x3297, 1}, {0x3299, 0x3299, 1},
	},
	R32:         []unicode.Range32{{0x1f000, 0x1faff, 1}, {0x1fc00, 0x1fffd, 1}},
	LatinOffset: 2,
}

// joining are the blocks of the scripts whose letters join, or stack around a virama.
var joining = &unicode.RangeTable{
	R16: []unicode.Range16{
		{0x0600, 0x0dff, 1},                      // Arabic, Syriac, N'Ko, Mandaic; Devanagari to Sinhala
		{0x0f00, 0x109f, 1},                      // Tibetan, Myanmar
		{0x1700, 0x18af, 1},                      // Tagalog, Khmer, Mongolian
		{0x1900, 0x1c7f, 1},                      // Limbu, Tai Tham, Balinese, Lepcha
		{0x1cd0, 0x1cff, 1},                      // Vedic
		{0xa800, 0xa95f, 1},                      // Syloti Nagri, Phags-pa, Rejang
		{0xa980, 0xaaff, 1},                      // Javanese, Cham, Meetei Mayek
		{0xabc0, 0xabff, 1},                      // Meetei Mayek
		{0xfb50, 0xfdff, 1}, {0xfe70, 0xfefc, 1}, // Arabic
	},
	R32: []unicode.Range32{
		{0x10a00, 0x10a5f, 1},                        // Kharoshthi
		{0x10ac0, 0x10aff, 1}, {0x10b80, 0x10baf, 1}, // Manichaean, Pahlavi
		{0x10d00, 0x10d3f, 1}, // Rohingya
		{0x10ec0, 0x10fdf, 1}, // Arabic, Sogdian, Old Uyghur, Chorasmian
		{0x11000, 0x11fbf, 1}, // Brahmi and what came of it
		{0x1e900, 0x1e95f, 1}, // Adlam
	},
}
