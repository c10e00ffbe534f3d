/*
 * For images: many messages under way at once. Wildcards, probes, derived datatypes, persistent requests, the program's own
 * operation, communicators of all sorts. What is printed does not depend on the order of messages.
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ROUNDS = 2, MANY = 6 };

static int rank, size;
static unsigned sum = 1;

static void note(const void *bytes, int count) {
    const unsigned char *b = bytes;
    for (int i = 0; i < count; i++) sum = (sum ^ b[i]) * 16777619u;
}

static void say(const char *what) { printf("rank %d, %s: %08x\n", rank, what, sum); }

/* Every rank sends MANY messages to every other; they are received as they come, and noted in order. */
static void crowd(int round, MPI_Comm comm) {
    MPI_Request sends[8 * MANY], receives[8 * MANY];
    int out[8 * MANY][4], in[8 * MANY][4], n = 0, got = 0, table[8][MANY];
    memset(table, 0, sizeof table);
    for (int peer = 0; peer < size; peer++) {
        if (peer == rank) continue;
        for (int i = 0; i < MANY; i++, n++) {
            for (int k = 0; k < 4; k++) out[n][k] = round * 1000 + rank * 100 + i * 10 + k;
            if (i % 3 == 0) MPI_Issend(out[n], 4, MPI_INT, peer, i, comm, &sends[n]);
            else MPI_Isend(out[n], 4, MPI_INT, peer, i, comm, &sends[n]);
        }
    }
    for (int i = 0; i < n / 2; i++)
        MPI_Irecv(in[i], 4, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, comm, &receives[i]);
    while (got < n / 2) {
        MPI_Status status;
        int index;
        MPI_Waitany(n / 2, receives, &index, &status);
        table[status.MPI_SOURCE][status.MPI_TAG] = in[index][3];
        got++;
    }
    while (got < n) {
        MPI_Status status;
        int flag = 0, message[4];
        if (got % 2 == 0) MPI_Probe(MPI_ANY_SOURCE, MPI_ANY_TAG, comm, &status);
        else while (!flag) MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, comm, &flag, &status);
        MPI_Message handle;
        MPI_Mprobe(status.MPI_SOURCE, status.MPI_TAG, comm, &handle, &status);
        MPI_Mrecv(message, 4, MPI_INT, &handle, &status);
        table[status.MPI_SOURCE][status.MPI_TAG] = message[3];
        got++;
    }
    MPI_Waitall(n, sends, MPI_STATUSES_IGNORE);
    note(table, sizeof table);
}

/* Columns and structures, to the right and from the left. */
static void shapes(int round) {
    struct part { char c; double d; short s[3]; } parts[4], others[4];
    double matrix[6][5], column[6];
    MPI_Datatype columns, structure, resized;
    memset(parts, 0, sizeof parts);
    memset(others, 0, sizeof others);
    MPI_Type_vector(6, 1, 5, MPI_DOUBLE, &columns);
    MPI_Type_commit(&columns);
    int lengths[3] = {1, 1, 3};
    MPI_Aint places[3] = {0, (char *)&parts[0].d - (char *)&parts[0], (char *)&parts[0].s - (char *)&parts[0]};
    MPI_Datatype types[3] = {MPI_CHAR, MPI_DOUBLE, MPI_SHORT};
    MPI_Type_create_struct(3, lengths, places, types, &structure);
    MPI_Type_create_resized(structure, 0, sizeof(struct part), &resized);
    MPI_Type_commit(&resized);
    for (int i = 0; i < 6; i++)
        for (int j = 0; j < 5; j++) matrix[i][j] = round + rank * 100 + i * 10 + j;
    for (int i = 0; i < 4; i++) {
        parts[i].c = (char)(rank + i);
        parts[i].d = rank + i * 0.5 + round;
        for (int k = 0; k < 3; k++) parts[i].s[k] = (short)(rank * 10 + k + i);
    }
    int right = (rank + 1) % size, left = (rank + size - 1) % size;
    MPI_Sendrecv(&matrix[0][round % 5], 1, columns, right, 1, column, 6, MPI_DOUBLE, left, 1, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
    MPI_Request requests[2];
    MPI_Irecv(others, 4, resized, left, 2, MPI_COMM_WORLD, &requests[0]);
    MPI_Isend(parts, 4, resized, right, 2, MPI_COMM_WORLD, &requests[1]);
    MPI_Type_free(&resized);
    MPI_Type_free(&structure);
    MPI_Type_free(&columns);
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    note(column, sizeof column);
    for (int i = 0; i < 4; i++) note(&others[i].d, sizeof(double)), note(others[i].s, sizeof others[i].s);
}

/* Not commutative: 2 × 2 matrices, multiplied. */
static void multiply(void *in, void *inout, int *length, MPI_Datatype *type) {
    unsigned *a = in, *b = inout;
    (void)type;
    for (int i = 0; i < *length; i++, a += 4, b += 4) {
        unsigned c[4] = {a[0] * b[0] + a[1] * b[2], a[0] * b[1] + a[1] * b[3], a[2] * b[0] + a[3] * b[2],
                         a[2] * b[1] + a[3] * b[3]};
        memcpy(b, c, sizeof c);
    }
}

static void own_operation(int round) {
    MPI_Op op;
    MPI_Datatype four;
    unsigned mine[3][4], all[3][4], upto[3][4];
    MPI_Type_contiguous(4, MPI_UNSIGNED, &four);
    MPI_Type_commit(&four);
    MPI_Op_create(multiply, 0, &op);
    for (int i = 0; i < 3; i++)
        for (int k = 0; k < 4; k++) mine[i][k] = rank * 3 + round + i + k * k + 1;
    MPI_Request request;
    MPI_Iallreduce(mine, all, 3, four, op, MPI_COMM_WORLD, &request);
    MPI_Scan(mine, upto, 3, four, op, MPI_COMM_WORLD);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    note(all, sizeof all);
    note(upto, sizeof upto);
    MPI_Op_free(&op);
    MPI_Type_free(&four);
}

static void communicators(int round) {
    MPI_Comm half, twin, bridge, merged;
    int color = rank % 2, value = rank + round, result = 0, where;
    MPI_Comm_split(MPI_COMM_WORLD, color, -rank, &half);
    MPI_Comm_dup(half, &twin);
    MPI_Allreduce(&value, &result, 1, MPI_INT, MPI_SUM, twin);
    note(&result, sizeof result);
    /* The first rank of a half is the last one of the world that is odd, or even. */
    int odd = size - 1 - size % 2, even = size - 2 + size % 2;
    MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, color == 0 ? odd : even, 9, &bridge);
    int theirs[8] = {0}, remote;
    MPI_Comm_remote_size(bridge, &remote);
    MPI_Allgather(&value, 1, MPI_INT, theirs, 1, MPI_INT, bridge);
    note(theirs, remote * (int)sizeof(int));
    MPI_Intercomm_merge(bridge, color, &merged);
    MPI_Comm_rank(merged, &where);
    MPI_Bcast(&value, 1, MPI_INT, size - 1, merged);
    note(&value, sizeof value);
    note(&where, sizeof where);
    MPI_Comm_free(&merged);
    MPI_Comm_free(&bridge);
    MPI_Comm_free(&twin);
    MPI_Comm_free(&half);
}

int main(int argc, char **argv) {
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Comm apart;
    MPI_Comm_dup(MPI_COMM_WORLD, &apart);
    int right = (rank + 1) % size, left = (rank + size - 1) % size, out[2], in[2], total = 0, mine;
    MPI_Request persistent[3];
    MPI_Send_init(out, 2, MPI_INT, right, 77, apart, &persistent[0]);
    MPI_Recv_init(in, 2, MPI_INT, left, 77, apart, &persistent[1]);
    MPI_Allreduce_init(&mine, &total, 1, MPI_INT, MPI_MAX, apart, MPI_INFO_NULL, &persistent[2]);
    for (int round = 0; round < ROUNDS; round++) {
        out[0] = rank * round, out[1] = -rank;
        mine = (rank * 7 + round * 5) % 11;
        MPI_Startall(3, persistent);
        crowd(round, MPI_COMM_WORLD);
        shapes(round);
        own_operation(round);
        MPI_Waitall(3, persistent, MPI_STATUSES_IGNORE);
        note(in, sizeof in);
        note(&total, sizeof total);
        communicators(round);
        say("round over");
    }
    for (int i = 0; i < 3; i++) MPI_Request_free(&persistent[i]);
    MPI_Comm_free(&apart);
    say("end");
    MPI_Finalize();
    return 0;
}
