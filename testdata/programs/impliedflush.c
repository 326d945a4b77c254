// impliedflush.c: a flush directive before an atomic directive that implies a flush.
int main(void)
{
	int x = 0;

#pragma omp parallel shared(x)
	for (int i = 0; i < 1000; i++)
	{
#pragma omp flush
#pragma omp atomic write seq_cst
		x = i;
	}
	return x < 0;
}
