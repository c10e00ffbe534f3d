/*
 * A bit of everything that C programs do with MPI, checked by the program itself: messages of sizes on both sides of every
 * limit, requests, the program's own operations, attribute functions and error handlers, communicators, datatypes, files.
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int rank, size, errors;

#define CHECK(condition, ...)                              \
    do {                                                   \
        if (!(condition)) {                                \
            errors++;                                      \
            printf("rank %d, line %d: ", rank, __LINE__);  \
            printf(__VA_ARGS__);                           \
            printf("\n");                                  \
        }                                                  \
    } while (0)

static int right(void) { return (rank + 1) % size; }
static int left(void) { return (rank + size - 1) % size; }

static void message(int bytes) {
    unsigned char *out = malloc(bytes + 1), *in = malloc(bytes + 1);
    MPI_Request requests[2];
    MPI_Status statuses[2];
    int count, wrong = -1;
    for (int i = 0; i < bytes; i++) out[i] = (unsigned char)(i * 7 + rank);
    MPI_Irecv(in, bytes, MPI_BYTE, left(), 5, MPI_COMM_WORLD, &requests[0]);
    MPI_Isend(out, bytes, MPI_BYTE, right(), 5, MPI_COMM_WORLD, &requests[1]);
    MPI_Waitall(2, requests, statuses);
    MPI_Get_count(&statuses[0], MPI_BYTE, &count);
    CHECK(count == bytes && statuses[0].MPI_SOURCE == left() && statuses[0].MPI_TAG == 5, "count %d", count);
    CHECK(requests[0] == MPI_REQUEST_NULL, "a request stays");
    for (int i = 0; i < bytes && wrong < 0; i++)
        if (in[i] != (unsigned char)(i * 7 + left())) wrong = i;
    CHECK(wrong < 0, "byte %d of %d", wrong, bytes);
    MPI_Sendrecv(out, bytes, MPI_BYTE, right(), 6, in, bytes, MPI_BYTE, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD,
                 &statuses[0]);
    CHECK(statuses[0].MPI_SOURCE == left() && statuses[0].MPI_TAG == 6, "wildcards");
    free(out);
    free(in);
}

static void add(void *in, void *inout, int *length, MPI_Datatype *type) {
    const double *a = in;
    double *b = inout;
    (void)type;
    for (int i = 0; i < *length; i++) b[i] = a[i] + b[i];
}

static void reductions(void) {
    double mine[3] = {rank, 2.0 * rank, 1}, sum[3];
    double wanted = size * (size - 1) / 2.0;
    MPI_Op op;
    MPI_Request request;
    MPI_Op_create(add, 1, &op);
    MPI_Allreduce(mine, sum, 3, MPI_DOUBLE, op, MPI_COMM_WORLD);
    CHECK(sum[0] == wanted && sum[1] == 2 * wanted && sum[2] == size, "own operation: %g", sum[0]);
    MPI_Iallreduce(mine, sum, 3, MPI_DOUBLE, op, MPI_COMM_WORLD, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    CHECK(sum[0] == wanted, "own operation, not blocking: %g", sum[0]);
    MPI_Op_free(&op);
    MPI_Reduce(rank == 0 ? MPI_IN_PLACE : mine, mine, 3, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
    if (rank == 0) CHECK(mine[0] == size - 1, "in place: %g", mine[0]);
    int *all = malloc(size * sizeof *all);
    MPI_Allgather(&rank, 1, MPI_INT, all, 1, MPI_INT, MPI_COMM_WORLD);
    for (int i = 0; i < size; i++) CHECK(all[i] == i, "allgather");
    free(all);
}

static int copies, deletes;
static int copy(MPI_Comm comm, int keyval, void *extra, void *in, void *out, int *flag) {
    (void)comm, (void)keyval, (void)extra;
    int sum;
    copies++;
    /* A callback may use MPI itself. */
    MPI_Allreduce(&copies, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    *(void **)out = (char *)in + sum;
    *flag = 1;
    return MPI_SUCCESS;
}
static int delete(MPI_Comm comm, int keyval, void *value, void *extra) {
    (void)comm, (void)keyval, (void)value, (void)extra;
    deletes++;
    return MPI_SUCCESS;
}

static void attributes(void) {
    int keyval, flag;
    void *value;
    MPI_Comm duplicate;
    MPI_Comm_create_keyval(copy, delete, &keyval, NULL);
    MPI_Comm_set_attr(MPI_COMM_WORLD, keyval, (void *)100);
    MPI_Comm_dup(MPI_COMM_WORLD, &duplicate);
    MPI_Comm_get_attr(duplicate, keyval, &value, &flag);
    CHECK(flag && (long)value == 100 + size && copies == 1, "attribute %ld", (long)value);
    MPI_Comm_free(&duplicate);
    CHECK(deletes == 1 && duplicate == MPI_COMM_NULL, "deletes %d", deletes);
}

static int handled;
static void handle(MPI_Comm *comm, int *code, ...) {
    (void)comm;
    handled = *code;
}

static void errorHandlers(void) {
    double x = 0;
    MPI_Errhandler own;
    MPI_Comm_create_errhandler(handle, &own);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, own);
    int code = MPI_Send(&x, 1, MPI_DOUBLE, size + 5, 0, MPI_COMM_WORLD);
    CHECK(code == MPI_ERR_RANK && handled == MPI_ERR_RANK, "code %d, handled %d", code, handled);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    code = MPI_Send(&x, 1, MPI_DATATYPE_NULL, 0, 0, MPI_COMM_WORLD);
    CHECK(code == MPI_ERR_TYPE, "code %d", code);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
    MPI_Errhandler_free(&own);
}

static void communicators(void) {
    int sum, wanted = 0, dims[2] = {0, 0}, periods[2] = {1, 0}, coords[2], again;
    MPI_Comm half, cart;
    MPI_Comm_split(MPI_COMM_WORLD, rank % 2, -rank, &half);
    MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, half);
    for (int i = rank % 2; i < size; i += 2) wanted += i;
    CHECK(sum == wanted, "half: %d instead of %d", sum, wanted);
    MPI_Comm_free(&half);
    MPI_Dims_create(size, 2, dims);
    MPI_Cart_create(MPI_COMM_WORLD, 2, dims, periods, 0, &cart);
    MPI_Cart_coords(cart, rank, 2, coords);
    MPI_Cart_rank(cart, coords, &again);
    CHECK(again == rank, "cartesian rank %d", again);
    MPI_Comm_free(&cart);
}

static void datatypes(void) {
    int matrix[4][5], column[4];
    MPI_Datatype type;
    for (int i = 0; i < 4; i++)
        for (int j = 0; j < 5; j++) matrix[i][j] = 100 * rank + 10 * i + j;
    MPI_Type_vector(4, 1, 5, MPI_INT, &type);
    MPI_Type_commit(&type);
    MPI_Sendrecv(&matrix[0][2], 1, type, right(), 9, column, 4, MPI_INT, left(), 9, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    for (int i = 0; i < 4; i++) CHECK(column[i] == 100 * left() + 10 * i + 2, "column %d", column[i]);
    MPI_Type_free(&type);
}

static void files(void) {
    char line[64] = "";
    FILE *file;
    if (rank == 0) {
        file = fopen("sweep.tmp", "w");
        fprintf(file, "hello %d\n", size);
        fclose(file);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    file = fopen("sweep.tmp", "r");
    CHECK(file != NULL && fgets(line, sizeof line, file) != NULL && strncmp(line, "hello", 5) == 0, "file: %s", line);
    if (file != NULL) fclose(file);
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0) remove("sweep.tmp");
}

int main(int argc, char **argv) {
    static const int sizes[] = {0, 1, 7, 8, 31, 32, 33, 96, 97, 1000, 8192, 8193, 65536, 100001, 1048576};
    int total;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    for (unsigned i = 0; i < sizeof sizes / sizeof *sizes; i++) message(sizes[i]);
    reductions();
    attributes();
    errorHandlers();
    communicators();
    datatypes();
    files();
    MPI_Allreduce(&errors, &total, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    if (rank == 0) printf("%d errors on %d ranks\n", total, size);
    MPI_Finalize();
    return total != 0;
}
