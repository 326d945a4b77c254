// Messages between two ranks, for mpi.c.

// ping_pong is half of a round trip.
static double ping_pong(long bytes, int n)
{
	double t = now();

	for (int i = 0; i < n; i++) {
		if (rank == 0) {
			MPI_Send(from, bytes, MPI_BYTE, 1, 1, comm);
			MPI_Recv(to, bytes, MPI_BYTE, 1, 1, comm, MPI_STATUS_IGNORE);
		} else {
			MPI_Recv(to, bytes, MPI_BYTE, 0, 1, comm, MPI_STATUS_IGNORE);
			MPI_Send(from, bytes, MPI_BYTE, 0, 1, comm);
		}
	}
	return (now() - t) / n / 2;
}

// In an exchange both send at once.
static double exchange(long bytes, int n)
{
	double t = now();

	for (int i = 0; i < n; i++)
		MPI_Sendrecv(from, bytes, MPI_BYTE, 1 - rank, 1, to, bytes, MPI_BYTE, 1 - rank, 1, comm, MPI_STATUS_IGNORE);
	return (now() - t) / n;
}

// A stream has many messages under way; the receiver answers a window of them.
static double stream(long bytes, int n)
{
	MPI_Request request[WINDOW];
	MPI_Status status[WINDOW];
	double t = now();

	for (int i = 0; i < n; i++) {
		for (int j = 0; j < WINDOW; j++) {
			if (rank == 0)
				MPI_Isend(from, bytes, MPI_BYTE, 1, 1, comm, &request[j]);
			else
				MPI_Irecv(to, bytes, MPI_BYTE, 0, 1, comm, &request[j]);
		}
		MPI_Waitall(WINDOW, request, status);
		if (rank == 0)
			MPI_Recv(to, 0, MPI_BYTE, 1, 2, comm, MPI_STATUS_IGNORE);
		else
			MPI_Send(from, 0, MPI_BYTE, 0, 2, comm);
	}
	return (now() - t) / n / WINDOW;
}

// waits tells whether MPI_Send waits for the receiver, who is late. A sender that was without a
// processor seems to wait: so one try in five that does not is enough.
static int waits(long bytes)
{
	const double late = 3e6;
	int waits = 1;

	for (int i = 0; i < 5 && waits; i++) {
		MPI_Barrier(comm);
		if (rank == 0) {
			double t = now();

			MPI_Send(from, bytes, MPI_BYTE, 1, 3, comm);
			waits = now() - t > late / 2;
		} else {
			struct timespec some = {0, (long)late};

			nanosleep(&some, NULL);
			MPI_Recv(to, bytes, MPI_BYTE, 0, 3, comm, MPI_STATUS_IGNORE);
		}
		MPI_Bcast(&waits, 1, MPI_INT, 0, comm);
	}
	return waits;
}

// write_eager finds the longest message that does not wait.
static void write_eager(void)
{
	long eager = 0, wait = 1;
	int nodes, over;
	const char *place = where(comm, 1, &nodes, &over);

	while (wait <= LARGEST && !waits(wait)) {
		eager = wait;
		wait *= 2;
	}
	if (wait > LARGEST)
		wait = 0;
	while (wait - eager > 1) {
		long middle = (eager + wait) / 2;

		if (waits(middle))
			wait = middle;
		else
			eager = middle;
	}
	if (rank == 0)
		printf("ompp-attach: eager %s %ld %ld\n", place, eager, wait);
	fflush(stdout);
}
