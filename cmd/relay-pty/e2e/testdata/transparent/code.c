/* A small program, for syntax colours. */
#include <stdio.h>

static const char *words[] = { "one", "two", "three" };

int main(void)
{
	for (size_t i = 0; i < sizeof words / sizeof *words; i++)
		printf("%zu\t%s\n", i, words[i]); // naïve, but enough
	return 0;
}
