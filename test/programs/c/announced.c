/*
 * A large message that is announced and not received when the job is frozen: it is in its sender's memory, and the sender's
 * image takes longer to read than the receiver's. The receiver goes on when there is a file "go".
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define BYTES (1 << 20)
#define BALLAST (192 << 20)

int main(int argc, char **argv) {
    int rank, wrong = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    char *message = malloc(BYTES);
    if (rank == 1) {
        char *ballast = malloc(BALLAST);
        MPI_Request request;
        for (int i = 0; i < BALLAST; i++) ballast[i] = i * 2654435761u >> 24;
        memset(message, 7, BYTES);
        MPI_Isend(message, BYTES, MPI_CHAR, 0, 1, MPI_COMM_WORLD, &request);
        MPI_Barrier(MPI_COMM_WORLD);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        wrong = ballast[12345] != (char)(12345 * 2654435761u >> 24);
    } else {
        MPI_Barrier(MPI_COMM_WORLD);
        puts("announced");
        fflush(stdout);
        while (access("go", F_OK) != 0) usleep(1000);
        MPI_Recv(message, BYTES, MPI_CHAR, 1, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        for (int i = 0; i < BYTES; i++) wrong += message[i] != 7;
    }
    printf("rank %d: %d bytes are wrong\n", rank, wrong);
    MPI_Finalize();
    return 0;
}
