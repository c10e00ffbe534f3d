/*
 * A bag of tasks that loses workers: rank 0 hands tasks out, and a task whose worker dies goes back into the bag. Nobody is revoked and
 * nothing is shrunk: the manager speaks to each worker alone, and a death concerns only those who speak to the dead.
 *
 *   banyan run -n 8 --nodes 4 --protocol ulfm --faults "kill node 1 at 1s; kill rank 6 at 2s" examples/ulfm/tasks.c
 */
#include <mpi-ext.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#define TASKS 300
#define NUMBERS_PER_TASK 4000
enum { TASK = 1, RESULT = 2 };

/* How many primes the task's numbers have among them. */
static int work(int task) {
    int primes = 0;
    for (int n = task * NUMBERS_PER_TASK; n < (task + 1) * NUMBERS_PER_TASK; n++) {
        int is_prime = n > 1;
        for (int d = 2; d * d <= n && is_prime; d++) is_prime = n % d != 0;
        primes += is_prime;
    }
    return primes;
}

/* -1 means: no more. A manager that is dead has no more either. */
static void worker(MPI_Comm comm) {
    int task;
    while (MPI_Recv(&task, 1, MPI_INT, 0, TASK, comm, MPI_STATUS_IGNORE) == MPI_SUCCESS && task >= 0) {
        int result = work(task);
        if (MPI_Send(&result, 1, MPI_INT, 0, RESULT, comm) != MPI_SUCCESS) return;
    }
}

static int bag[TASKS], in_bag;
static int *task_of; /* by worker; -1: it has none */
static char *is_alive;

/* Takes back what the dead had, and acknowledges their deaths: only then receives from anybody go on. */
static int bury(MPI_Comm comm) {
    MPI_Group all, dead;
    int count, buried = 0;
    MPI_Comm_failure_ack(comm);
    MPI_Comm_failure_get_acked(comm, &dead);
    MPI_Comm_group(comm, &all);
    MPI_Group_size(dead, &count);
    for (int i = 0; i < count; i++) {
        int worker;
        MPI_Group_translate_ranks(dead, 1, &i, all, &worker);
        if (!is_alive[worker]) continue;
        is_alive[worker] = 0;
        buried++;
        if (task_of[worker] >= 0) bag[in_bag++] = task_of[worker];
        task_of[worker] = -1;
    }
    MPI_Group_free(&all);
    MPI_Group_free(&dead);
    return buried;
}

static long manager(MPI_Comm comm, int size, int *lost) {
    long total = 0;
    int done = 0, result;
    MPI_Request request = MPI_REQUEST_NULL;
    MPI_Status status;
    task_of = malloc(sizeof(int) * (size_t)size);
    is_alive = malloc((size_t)size);
    for (int w = 1; w < size; w++) task_of[w] = -1, is_alive[w] = 1;
    for (in_bag = 0; in_bag < TASKS; in_bag++) bag[in_bag] = in_bag;
    while (done < TASKS) {
        int busy = 0;
        for (int w = 1; w < size; w++) {
            if (is_alive[w] && task_of[w] < 0 && in_bag > 0) {
                task_of[w] = bag[--in_bag];
                /* To one that is dead it fails, and its task comes back when the dead are buried. */
                if (MPI_Send(&task_of[w], 1, MPI_INT, w, TASK, comm) != MPI_SUCCESS) *lost += bury(comm);
            }
            busy += is_alive[w] && task_of[w] >= 0;
        }
        if (busy == 0) { /* all workers are dead */
            total += work(bag[--in_bag]);
            done++;
            continue;
        }
        if (request == MPI_REQUEST_NULL) MPI_Irecv(&result, 1, MPI_INT, MPI_ANY_SOURCE, RESULT, comm, &request);
        int class, code = MPI_Wait(&request, &status);
        MPI_Error_class(code, &class);
        if (class == MPI_ERR_PROC_FAILED_PENDING) {
            *lost += bury(comm); /* the receive is still there, and goes on now */
        } else {
            total += result;
            done++;
            task_of[status.MPI_SOURCE] = -1;
        }
    }
    if (request != MPI_REQUEST_NULL) {
        MPI_Cancel(&request);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
    }
    for (int w = 1, stop = -1; w < size; w++) MPI_Send(&stop, 1, MPI_INT, w, TASK, comm);
    return total;
}

int main(int argc, char **argv) {
    int rank, size, lost = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (rank == 0) {
        long primes = manager(MPI_COMM_WORLD, size, &lost);
        printf("%ld primes below %d\n", primes, TASKS * NUMBERS_PER_TASK);
        fprintf(stderr, "%d workers were lost\n", lost);
    } else {
        worker(MPI_COMM_WORLD);
    }
    MPI_Finalize();
    return 0;
}
