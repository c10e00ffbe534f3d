/*
 * Messages from and to the end of a rank's memory, and beyond: refused, and nothing outside is read or written. Every rank
 * exchanges with every other, so pairs inside a node and between nodes are tried.
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LONG 3000000
#define SHORT 65536
#define CHECK(call, wanted)                                                              \
    do {                                                                                 \
        int code = (call), class;                                                        \
        MPI_Error_class(code, &class);                                                   \
        if (class != (wanted)) {                                                         \
            char text[MPI_MAX_ERROR_STRING];                                             \
            int length;                                                                  \
            MPI_Error_string(code, text, &length);                                       \
            printf("%d: line %d: %s\n", rank, __LINE__, code ? text : "no error");       \
            errors++;                                                                    \
        }                                                                                \
    } while (0)

int main(int argc, char **argv) {
    int rank, ranks, errors = 0, total, peer, i;
    char *end = (char *)(__builtin_wasm_memory_size(0) << 16), *edge = end - SHORT, *data = malloc(LONG);
    MPI_Datatype spread, hindexed;
    MPI_Status status;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);

    MPI_Type_vector(3000, 100, 1000, MPI_BYTE, &spread);
    MPI_Type_commit(&spread);
    MPI_Aint far = (MPI_Aint)edge;
    int one = 1;
    MPI_Type_create_hindexed(1, &one, &far, spread, &hindexed);
    MPI_Type_commit(&hindexed);

    for (peer = 0; peer < ranks; peer++) {
        MPI_Request request;
        CHECK(MPI_Send(edge, LONG, MPI_BYTE, peer, 1, MPI_COMM_WORLD), MPI_ERR_BUFFER);
        CHECK(MPI_Recv(edge, LONG, MPI_BYTE, peer, 1, MPI_COMM_WORLD, &status), MPI_ERR_BUFFER);
        CHECK(MPI_Ssend(edge, LONG, MPI_BYTE, peer, 1, MPI_COMM_WORLD), MPI_ERR_BUFFER);
        CHECK(MPI_Isend(edge, LONG, MPI_BYTE, peer, 1, MPI_COMM_WORLD, &request), MPI_ERR_BUFFER);
        CHECK(MPI_Irecv(edge, LONG, MPI_BYTE, peer, 1, MPI_COMM_WORLD, &request), MPI_ERR_BUFFER);
        CHECK(MPI_Recv_init(edge, LONG, MPI_BYTE, peer, 1, MPI_COMM_WORLD, &request), MPI_ERR_BUFFER);
        CHECK(MPI_Send_init(edge, LONG, MPI_BYTE, peer, 1, MPI_COMM_WORLD, &request), MPI_ERR_BUFFER);
        CHECK(MPI_Send(edge, 1, spread, peer, 1, MPI_COMM_WORLD), MPI_ERR_BUFFER);
        CHECK(MPI_Recv(edge, 1, spread, peer, 1, MPI_COMM_WORLD, &status), MPI_ERR_BUFFER);
        CHECK(MPI_Send(MPI_BOTTOM, 1, hindexed, peer, 1, MPI_COMM_WORLD), MPI_ERR_BUFFER);
        CHECK(MPI_Recv(MPI_BOTTOM, 1, hindexed, peer, 1, MPI_COMM_WORLD, &status), MPI_ERR_BUFFER);
        CHECK(MPI_Send(0, 1, MPI_BYTE, peer, 1, MPI_COMM_WORLD), MPI_ERR_BUFFER);
        CHECK(MPI_Recv((char *)-8, 16, MPI_BYTE, peer, 1, MPI_COMM_WORLD, &status), MPI_ERR_BUFFER);
        CHECK(MPI_Sendrecv(data, LONG, MPI_BYTE, peer, 1, edge, LONG, MPI_BYTE, peer, 1, MPI_COMM_WORLD, &status),
              MPI_ERR_BUFFER);
        CHECK(MPI_Sendrecv_replace(edge, LONG, MPI_BYTE, peer, 1, peer, 1, MPI_COMM_WORLD, &status), MPI_ERR_BUFFER);
    }
    CHECK(MPI_Bcast(edge, LONG, MPI_BYTE, 0, MPI_COMM_WORLD), MPI_ERR_BUFFER);
    CHECK(MPI_Allreduce(data, edge, LONG, MPI_BYTE, MPI_BOR, MPI_COMM_WORLD), MPI_ERR_BUFFER);
    CHECK(MPI_Allgather(data, SHORT, MPI_BYTE, edge, SHORT, MPI_BYTE, MPI_COMM_WORLD),
          ranks == 1 ? MPI_SUCCESS : MPI_ERR_BUFFER);

    /* Nothing of that has left: every message that is sent now arrives as the first, the last bytes of memory included. */
    for (i = 0; i < SHORT; i++) edge[i] = 7;
    for (peer = 0; peer < ranks; peer++) {
        MPI_Request request;
        memset(data, rank + 1, LONG);
        MPI_Isend(data, LONG, MPI_BYTE, peer, 1, MPI_COMM_WORLD, &request);
        char *into = malloc(LONG);
        CHECK(MPI_Recv(into, LONG, MPI_BYTE, peer, 1, MPI_COMM_WORLD, &status), MPI_SUCCESS);
        for (i = 0; i < LONG && into[i] == peer + 1; i++);
        if (i < LONG || edge[0] != 7 || end[-1] != 7) errors++, printf("%d: wrong bytes from %d\n", rank, peer);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        free(into);
        MPI_Isend(edge, SHORT, MPI_BYTE, peer, 2, MPI_COMM_WORLD, &request);
        CHECK(MPI_Recv(data, SHORT, MPI_BYTE, peer, 2, MPI_COMM_WORLD, &status), MPI_SUCCESS);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
    }
    MPI_Reduce(&errors, &total, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
    if (rank == 0) printf("%d errors on %d ranks\n", total, ranks);
    MPI_Finalize();
    return 0;
}
