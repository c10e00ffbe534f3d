/*
 * What a program may learn of chance, of its process, of its machine and of its input is sent to rank 0, byte for byte: replicas that are told different things send different
 * messages. And a send that is cancelled is not, so that all replicas do the same.
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { large = 20000 };

struct known {
    int pid, cancelled;
    unsigned char entropy[16];
    char host[64], processor[MPI_MAX_PROCESSOR_NAME];
    long input;
};

static double sent[large], received[large];

int main(int argc, char **argv) {
    int rank, ranks, length;
    struct known known;
    memset(&known, 0, sizeof known);
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    char line[64];
    int is_open = 1;
    while (is_open) {
        int value = 0;
        if (rank == 0) {
            is_open = fgets(line, sizeof line, stdin) != NULL;
            if (is_open) value = atoi(line);
        }
        MPI_Bcast(&is_open, 1, MPI_INT, 0, MPI_COMM_WORLD);
        MPI_Bcast(&value, 1, MPI_INT, 0, MPI_COMM_WORLD);
        known.input = 10 * known.input + value;
        if (is_open && rank == ranks - 1) printf("read %d\n", value);
        fflush(stdout);
    }
    known.pid = getpid();
    getentropy(known.entropy, sizeof known.entropy);
    gethostname(known.host, sizeof known.host);
    MPI_Get_processor_name(known.processor, &length);
    MPI_Request requests[2];
    MPI_Irecv(received, large, MPI_DOUBLE, (rank + ranks - 1) % ranks, 1, MPI_COMM_WORLD, &requests[0]);
    for (int i = 0; i < large; i++) sent[i] = rank + i;
    MPI_Isend(sent, large, MPI_DOUBLE, (rank + 1) % ranks, 1, MPI_COMM_WORLD, &requests[1]);
    MPI_Status status;
    MPI_Cancel(&requests[1]);
    MPI_Wait(&requests[1], &status);
    MPI_Test_cancelled(&status, &known.cancelled);
    MPI_Wait(&requests[0], MPI_STATUS_IGNORE);
    if (received[large - 1] != (rank + ranks - 1) % ranks + large - 1) MPI_Abort(MPI_COMM_WORLD, 4);
    if (rank != 0) MPI_Send(&known, sizeof known, MPI_BYTE, 0, 2, MPI_COMM_WORLD);
    else {
        for (int other = 0; other < ranks; other++) {
            if (other > 0) MPI_Recv(&known, sizeof known, MPI_BYTE, other, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            printf("rank %d: pid %d, host %s, processor %s, input %ld, cancelled %d, chance ", other, known.pid, known.host,
                   known.processor, known.input, known.cancelled);
            for (int i = 0; i < 16; i++) printf("%02x", known.entropy[i]);
            printf("\n");
        }
    }
    MPI_Finalize();
    return 0;
}
