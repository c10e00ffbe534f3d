/*
 * The program's own functions, called for the runtime: operations, error handlers, attribute and request functions. They
 * are called from here, with nothing of JavaScript on the stack, so they may wait, be captured and call MPI themselves.
 */
#include <mpi.h>

#include "banyan.h"

/* The runtime knows these numbers, and the layout: kind at 0, function at 4, arguments from 8 (src/abi/waiting/callbacks.ts). */
enum {
    OPERATION = 0,
    OPERATION_LARGE = 1,
    ERROR_HANDLER = 2,
    ATTRIBUTE_COPY = 3,
    ATTRIBUTE_DELETE = 4,
    REQUEST_QUERY = 5,
    REQUEST_FREE = 6,
    REQUEST_CANCEL = 7,
    /* One that was declared without its "..." and cast: a call through the wrong type traps in WebAssembly. */
    ERROR_HANDLER_PLAIN = 8,
};

struct banyan_call {
    int kind;
    int function;
    int arguments[8];
};

BANYAN_IMPORT("mpi", "callback") void banyan_callback(struct banyan_call *call);
BANYAN_IMPORT("mpi", "callback_done") int banyan_callback_done(int result);

/* Functions for communicators, datatypes and windows differ in the type of a handle only: each kind has one type here. */
typedef void Operation(int in, int inout, int length, int type);
typedef void ErrorHandler(int object, int code, ...);
typedef void PlainErrorHandler(int object, int code);
typedef int Copy(int object, int keyval, int extra, int in, int out, int flag);
typedef int Delete(int object, int keyval, int value, int extra);
typedef int Query(int extra, int status);
typedef int Free(int extra);
typedef int Cancel(int extra, int complete);

static int call(const struct banyan_call *it) {
    const int *a = it->arguments;
    switch (it->kind) {
        case OPERATION:
        case OPERATION_LARGE:
            ((Operation *)it->function)(a[0], a[1], a[2], a[3]);
            return MPI_SUCCESS;
        case ERROR_HANDLER:
            ((ErrorHandler *)it->function)(a[0], a[1]);
            return MPI_SUCCESS;
        case ERROR_HANDLER_PLAIN:
            ((PlainErrorHandler *)it->function)(a[0], a[1]);
            return MPI_SUCCESS;
        case ATTRIBUTE_COPY:
            return ((Copy *)it->function)(a[0], a[1], a[2], a[3], a[4], a[5]);
        case ATTRIBUTE_DELETE:
            return ((Delete *)it->function)(a[0], a[1], a[2], a[3]);
        case REQUEST_QUERY:
            return ((Query *)it->function)(a[0], a[1]);
        case REQUEST_FREE:
            return ((Free *)it->function)(a[0]);
        case REQUEST_CANCEL:
            return ((Cancel *)it->function)(a[0], a[1]);
        default:
            __builtin_trap();
    }
}

int banyan_callbacks(void) {
    int answer;
    do {
        struct banyan_call next;
        banyan_callback(&next);
        answer = banyan_callback_done(call(&next));
    } while (answer < 0);
    return answer;
}
