/* Listens at a TCP port, which it prints, until its input ends. */
#include <netinet/in.h>
#include <stdio.h>
#include <sys/socket.h>

int main(void)
{
	struct sockaddr_in at = {.sin_family = AF_INET};
	socklen_t size = sizeof(at);
	int s = socket(AF_INET, SOCK_STREAM, 0);

	if (s < 0 || bind(s, (struct sockaddr *)&at, size) || listen(s, 1) || getsockname(s, (struct sockaddr *)&at, &size))
		return 1;
	printf("%d\n", ntohs(at.sin_port));
	fflush(stdout);
	while (getchar() != EOF)
		;
	return 0;
}
