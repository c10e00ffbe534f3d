/* ULFM without failures: revoking ends every wait, agreements and shrinking work afterwards. At least 2 ranks. */
#include <mpi-ext.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int errors = 0, rank, size;

static void check(int holds, const char *what, int line) {
    if (holds) return;
    errors++;
    printf("rank %d, line %d: %s\n", rank, line, what);
}
#define CHECK(holds) check(holds, #holds, __LINE__)

static int class_of(int code) {
    int class;
    MPI_Error_class(code, &class);
    return class;
}
#define IS_REVOKED(call) CHECK(class_of(call) == MPIX_ERR_REVOKED)

static MPI_Comm copy_of(MPI_Comm comm) {
    MPI_Comm copy;
    MPI_Comm_dup(comm, &copy);
    MPI_Comm_set_errhandler(copy, MPI_ERRORS_RETURN);
    MPI_Barrier(comm);
    return copy;
}

/* The last rank revokes the communicator somewhat later than the others begin to wait. */
static int revokes(MPI_Comm comm) {
    if (rank != size - 1) return 0;
    usleep(5000);
    CHECK(MPIX_Comm_revoke(comm) == MPI_SUCCESS);
    return 1;
}

static void is_over(MPI_Comm *comm) {
    int flag = 0;
    while (!flag) MPIX_Comm_is_revoked(*comm, &flag);
    IS_REVOKED(MPI_Barrier(*comm));
    MPI_Comm_free(comm);
    CHECK(*comm == MPI_COMM_NULL);
}

static void waits(void) {
    static char large[1 << 20];
    int value = 0, root = size - 1;
    MPI_Request requests[4];
    MPI_Status statuses[4];

    MPI_Comm comm = copy_of(MPI_COMM_WORLD);
    if (!revokes(comm)) IS_REVOKED(MPI_Recv(&value, 1, MPI_INT, root, 1, comm, MPI_STATUS_IGNORE));
    is_over(&comm);

    comm = copy_of(MPI_COMM_WORLD);
    if (!revokes(comm)) IS_REVOKED(MPI_Recv(&value, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, comm, MPI_STATUS_IGNORE));
    is_over(&comm);

    comm = copy_of(MPI_COMM_WORLD);
    if (!revokes(comm)) IS_REVOKED(MPI_Barrier(comm));
    is_over(&comm);

    comm = copy_of(MPI_COMM_WORLD);
    if (!revokes(comm)) IS_REVOKED(MPI_Bcast(&value, 1, MPI_INT, root, comm));
    is_over(&comm);

    comm = copy_of(MPI_COMM_WORLD);
    if (!revokes(comm)) IS_REVOKED(MPI_Bcast(large, sizeof large, MPI_CHAR, root, comm));
    is_over(&comm);

    comm = copy_of(MPI_COMM_WORLD);
    if (!revokes(comm)) {
        int sum;
        IS_REVOKED(MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, comm));
    }
    is_over(&comm);

    comm = copy_of(MPI_COMM_WORLD);
    if (!revokes(comm)) IS_REVOKED(MPI_Ssend(large, sizeof large, MPI_CHAR, root, 1, comm));
    is_over(&comm);

    comm = copy_of(MPI_COMM_WORLD);
    if (!revokes(comm)) IS_REVOKED(MPI_Probe(root, 3, comm, MPI_STATUS_IGNORE));
    is_over(&comm);

    comm = copy_of(MPI_COMM_WORLD);
    if (!revokes(comm)) {
        MPI_Comm never;
        IS_REVOKED(MPI_Comm_dup(comm, &never));
        CHECK(never == MPI_COMM_NULL);
    }
    is_over(&comm);

    /* Several at once, and one of another communicator that goes well. */
    comm = copy_of(MPI_COMM_WORLD);
    int next = (rank + 1) % size, from = -1;
    MPI_Irecv(&value, 1, MPI_INT, root, 1, comm, &requests[0]);
    MPI_Issend(large, sizeof large, MPI_CHAR, next, 2, comm, &requests[1]);
    MPI_Irecv(&from, 1, MPI_INT, MPI_ANY_SOURCE, 7, MPI_COMM_WORLD, &requests[2]);
    MPI_Isend(&rank, 1, MPI_INT, next, 7, MPI_COMM_WORLD, &requests[3]);
    revokes(comm);
    CHECK(MPI_Waitall(4, requests, statuses) == MPI_ERR_IN_STATUS);
    CHECK(class_of(statuses[0].MPI_ERROR) == MPIX_ERR_REVOKED);
    CHECK(class_of(statuses[1].MPI_ERROR) == MPIX_ERR_REVOKED);
    CHECK(statuses[2].MPI_ERROR == MPI_SUCCESS && statuses[3].MPI_ERROR == MPI_SUCCESS);
    CHECK(from == (rank + size - 1) % size);

    /* What is started later. */
    CHECK(MPI_Isend(&value, 1, MPI_INT, next, 2, comm, &requests[0]) == MPI_SUCCESS);
    IS_REVOKED(MPI_Wait(&requests[0], MPI_STATUS_IGNORE));
    CHECK(MPI_Iallgather(&rank, 1, MPI_INT, malloc(4 * size), 1, MPI_INT, comm, &requests[0]) == MPI_SUCCESS);
    IS_REVOKED(MPI_Wait(&requests[0], MPI_STATUS_IGNORE));
    IS_REVOKED(MPI_Send(&value, 1, MPI_INT, next, 2, comm));
    IS_REVOKED(MPI_Send(&value, 1, MPI_INT, MPI_PROC_NULL, 2, comm));
    IS_REVOKED(MPI_Sendrecv(&rank, 1, MPI_INT, next, 2, &value, 1, MPI_INT, MPI_ANY_SOURCE, 2, comm, MPI_STATUS_IGNORE));
    is_over(&comm);
}

/* Partitioned messages, persistent collectives and both sides of an inter-communicator. */
static void others(void) {
    MPI_Request request;
    int value = 0;
    MPI_Comm comm = copy_of(MPI_COMM_WORLD);
    MPI_Precv_init(&value, 1, 1, MPI_INT, (rank + 1) % size, 1, comm, MPI_INFO_NULL, &request);
    MPI_Start(&request);
    revokes(comm);
    IS_REVOKED(MPI_Wait(&request, MPI_STATUS_IGNORE));
    MPI_Request_free(&request);
    is_over(&comm);

    MPI_Comm half, inter;
    MPI_Comm_split(MPI_COMM_WORLD, rank % 2, 0, &half);
    MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, 1 - rank % 2, 5, &inter);
    MPI_Comm_set_errhandler(inter, MPI_ERRORS_RETURN);
    MPI_Barrier(MPI_COMM_WORLD);
    if (!revokes(inter)) IS_REVOKED(MPI_Barrier(inter));
    int flag = ~(1 << rank);
    CHECK(MPIX_Comm_agree(inter, &flag) == MPI_SUCCESS);
    CHECK(flag == -(1 << size));
    MPI_Comm smaller;
    CHECK(MPIX_Comm_shrink(inter, &smaller) == MPI_SUCCESS);
    CHECK(MPI_Barrier(smaller) == MPI_SUCCESS);
    MPI_Comm_free(&smaller);
    MPI_Comm_free(&half);
    is_over(&inter);
}

static void agreements(void) {
    MPI_Comm comm = copy_of(MPI_COMM_WORLD), survivors, more;
    MPI_Group failed;
    MPI_Request requests[3];
    int flag = 0x70 | 1 << rank % 4, flags[2] = {~rank, -1};
    CHECK(MPIX_Comm_agree(comm, &flag) == MPI_SUCCESS);
    CHECK(flag == 0x70);
    if (rank == size - 1) CHECK(MPIX_Comm_revoke(comm) == MPI_SUCCESS);

    CHECK(MPIX_Comm_iagree(comm, &flags[0], &requests[0]) == MPI_SUCCESS);
    CHECK(MPIX_Comm_ishrink(comm, &more, &requests[1]) == MPI_SUCCESS);
    CHECK(MPIX_Comm_iagree(comm, &flags[1], &requests[2]) == MPI_SUCCESS);
    CHECK(MPI_Waitall(3, requests, MPI_STATUSES_IGNORE) == MPI_SUCCESS);
    int all = 0;
    for (int each = 0; each < size; each++) all |= each;
    CHECK(flags[0] == ~all && flags[1] == -1);
    CHECK(MPIX_Comm_shrink(comm, &survivors) == MPI_SUCCESS);

    for (int i = 0; i < 2; i++) {
        int its_rank, its_size, sum = 0, result;
        MPI_Comm new = i == 0 ? more : survivors;
        MPI_Comm_rank(new, &its_rank);
        MPI_Comm_size(new, &its_size);
        CHECK(its_rank == rank && its_size == size);
        CHECK(MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, new) == MPI_SUCCESS);
        CHECK(sum == size * (size - 1) / 2);
        MPI_Comm_compare(new, MPI_COMM_WORLD, &result);
        CHECK(result == MPI_CONGRUENT);
        MPI_Comm_free(&new);
    }

    int count = -1;
    CHECK(MPIX_Comm_get_failed(comm, &failed) == MPI_SUCCESS && failed == MPI_GROUP_EMPTY);
    CHECK(MPIX_Comm_ack_failed(comm, size, &count) == MPI_SUCCESS && count == 0);
    CHECK(MPIX_Comm_failure_ack(comm) == MPI_SUCCESS);
    CHECK(MPIX_Comm_failure_get_acked(comm, &failed) == MPI_SUCCESS && failed == MPI_GROUP_EMPTY);
    is_over(&comm);
}

static void words(void) {
    char text[MPI_MAX_ERROR_STRING];
    int length;
    struct {
        int code;
        const char *name;
    } classes[] = {{MPIX_ERR_PROC_FAILED, "MPI_ERR_PROC_FAILED:"},
                   {MPIX_ERR_PROC_FAILED_PENDING, "MPI_ERR_PROC_FAILED_PENDING:"},
                   {MPIX_ERR_REVOKED, "MPI_ERR_REVOKED:"}};
    int *goes_on, flag;
    MPI_Comm_get_attr(MPI_COMM_WORLD, MPIX_FT, &goes_on, &flag);
    CHECK(flag && *goes_on == 0);
    for (int i = 0; i < 3; i++) {
        CHECK(class_of(classes[i].code) == classes[i].code);
        MPI_Error_string(classes[i].code, text, &length);
        CHECK(strncmp(text, classes[i].name, strlen(classes[i].name)) == 0);
    }
}

int main(int argc, char **argv) {
    int all;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    words();
    waits();
    others();
    agreements();

    /* The world itself, when nobody is in a call on it any more: after that only agreements, shrinking and the end. */
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm copy = copy_of(MPI_COMM_WORLD);
    MPI_Allreduce(&errors, &all, 1, MPI_INT, MPI_SUM, copy);
    if (!revokes(MPI_COMM_WORLD)) IS_REVOKED(MPI_Barrier(MPI_COMM_WORLD));
    int flag = errors == 0;
    MPIX_Comm_agree(MPI_COMM_WORLD, &flag);
    MPI_Comm rest;
    MPIX_Comm_shrink(MPI_COMM_WORLD, &rest);
    MPI_Barrier(rest);
    /* What is made of a group alone has no parent that could be revoked. */
    MPI_Group group;
    MPI_Comm again;
    MPI_Comm_group(rest, &group);
    MPI_Comm_create_from_group(group, "again", MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &again);
    MPI_Barrier(again);
    if (rank == 0) printf("%s: %d errors on %d ranks\n", flag ? "well" : "not well", all, size);
    MPI_Finalize();
    return 0;
}
