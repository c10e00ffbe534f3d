/*
 * MPI 5.0 for C and C++ programs that run in Banyan, with the values of the standard's own ABI (version 1.0) on wasm32:
 * handles are pointers of 4 bytes, MPI_Aint has 4, MPI_Count and MPI_Offset have 8. What MPI-3 took away is here too.
 *
 * This file and mpi-ext.h are the only list of MPI functions. The wrappers that every program is linked with and the
 * runtime's table of signatures are made from it (scripts/mpi-wrappers.mjs), so each function is one BANYAN_DECLARE.
 * Chapters and names are those of the standard.
 */
#ifndef BANYAN_MPI_H
#define BANYAN_MPI_H

#include <stdint.h>

#if defined(__cplusplus)
extern "C" {
#endif

#define MPI_VERSION        5
#define MPI_SUBVERSION     0
#define MPI_ABI_VERSION    1
#define MPI_ABI_SUBVERSION 0

/* A function and its second name, which a profiling library calls when it has taken the place of the first. */
#define BANYAN_DECLARE(result, name, parameters) result name parameters; result P##name parameters

typedef intptr_t MPI_Aint;
typedef int64_t MPI_Count;
typedef int64_t MPI_Offset;

typedef struct MPI_ABI_Comm *MPI_Comm;
typedef struct MPI_ABI_Datatype *MPI_Datatype;
typedef struct MPI_ABI_Errhandler *MPI_Errhandler;
typedef struct MPI_ABI_File *MPI_File;
typedef struct MPI_ABI_Group *MPI_Group;
typedef struct MPI_ABI_Info *MPI_Info;
typedef struct MPI_ABI_Message *MPI_Message;
typedef struct MPI_ABI_Op *MPI_Op;
typedef struct MPI_ABI_Request *MPI_Request;
typedef struct MPI_ABI_Session *MPI_Session;
typedef struct MPI_ABI_Win *MPI_Win;

typedef struct MPI_Status {
    int MPI_SOURCE;
    int MPI_TAG;
    int MPI_ERROR;
    int MPI_internal[5];
} MPI_Status;

/* 3. Point-to-point communication. */

#define MPI_ANY_SOURCE     (-1)
#define MPI_ANY_TAG        (-2)
#define MPI_PROC_NULL      (-3)
#define MPI_UNDEFINED      (-32766)
#define MPI_BSEND_OVERHEAD 512

/* Buffers that are none. */
#define MPI_BOTTOM           ((void *)0)
#define MPI_IN_PLACE         ((void *)1)
#define MPI_BUFFER_AUTOMATIC ((void *)2)
#define MPI_STATUS_IGNORE    ((MPI_Status *)0)
#define MPI_STATUSES_IGNORE  ((MPI_Status *)0)

#define MPI_REQUEST_NULL    ((MPI_Request)0x180)
#define MPI_MESSAGE_NULL    ((MPI_Message)0x128)
#define MPI_MESSAGE_NO_PROC ((MPI_Message)0x129)

BANYAN_DECLARE(int, MPI_Send, (const void *buf, int count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm));
BANYAN_DECLARE(int, MPI_Send_c, (const void *buf, MPI_Count count, MPI_Datatype datatype, int dest, int tag,
    MPI_Comm comm));
BANYAN_DECLARE(int, MPI_Recv, (void *buf, int count, MPI_Datatype datatype, int source, int tag, MPI_Comm comm,
    MPI_Status *status));
BANYAN_DECLARE(int, MPI_Recv_c, (void *buf, MPI_Count count, MPI_Datatype datatype, int source, int tag, MPI_Comm comm,
    MPI_Status *status));
BANYAN_DECLARE(int, MPI_Get_count, (const MPI_Status *status, MPI_Datatype datatype, int *count));
BANYAN_DECLARE(int, MPI_Get_count_c, (const MPI_Status *status, MPI_Datatype datatype, MPI_Count *count));
BANYAN_DECLARE(int, MPI_Status_get_source, (const MPI_Status *status, int *source));
BANYAN_DECLARE(int, MPI_Status_get_tag, (const MPI_Status *status, int *tag));
BANYAN_DECLARE(int, MPI_Status_get_error, (const MPI_Status *status, int *err));
BANYAN_DECLARE(int, MPI_Bsend, (const void *buf, int count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm));
BANYAN_DECLARE(int, MPI_Bsend_c, (const void *buf, MPI_Count count, MPI_Datatype datatype, int dest, int tag,
    MPI_Comm comm));
BANYAN_DECLARE(int, MPI_Ssend, (const void *buf, int count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm));
BANYAN_DECLARE(int, MPI_Ssend_c, (const void *buf, MPI_Count count, MPI_Datatype datatype, int dest, int tag,
    MPI_Comm comm));
BANYAN_DECLARE(int, MPI_Rsend, (const void *buf, int count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm));
BANYAN_DECLARE(int, MPI_Rsend_c, (const void *buf, MPI_Count count, MPI_Datatype datatype, int dest, int tag,
    MPI_Comm comm));
BANYAN_DECLARE(int, MPI_Buffer_attach, (void *buffer, int size));
BANYAN_DECLARE(int, MPI_Buffer_attach_c, (void *buffer, MPI_Count size));
BANYAN_DECLARE(int, MPI_Buffer_detach, (void *buffer_addr, int *size));
BANYAN_DECLARE(int, MPI_Buffer_detach_c, (void *buffer_addr, MPI_Count *size));
BANYAN_DECLARE(int, MPI_Buffer_flush, (void));
BANYAN_DECLARE(int, MPI_Buffer_iflush, (MPI_Request *request));
BANYAN_DECLARE(int, MPI_Comm_attach_buffer, (MPI_Comm comm, void *buffer, int size));
BANYAN_DECLARE(int, MPI_Comm_attach_buffer_c, (MPI_Comm comm, void *buffer, MPI_Count size));
BANYAN_DECLARE(int, MPI_Comm_detach_buffer, (MPI_Comm comm, void *buffer_addr, int *size));
BANYAN_DECLARE(int, MPI_Comm_detach_buffer_c, (MPI_Comm comm, void *buffer_addr, MPI_Count *size));
BANYAN_DECLARE(int, MPI_Comm_flush_buffer, (MPI_Comm comm));
BANYAN_DECLARE(int, MPI_Comm_iflush_buffer, (MPI_Comm comm, MPI_Request *request));
BANYAN_DECLARE(int, MPI_Session_attach_buffer, (MPI_Session session, void *buffer, int size));
BANYAN_DECLARE(int, MPI_Session_attach_buffer_c, (MPI_Session session, void *buffer, MPI_Count size));
BANYAN_DECLARE(int, MPI_Session_detach_buffer, (MPI_Session session, void *buffer_addr, int *size));
BANYAN_DECLARE(int, MPI_Session_detach_buffer_c, (MPI_Session session, void *buffer_addr, MPI_Count *size));
BANYAN_DECLARE(int, MPI_Session_flush_buffer, (MPI_Session session));
BANYAN_DECLARE(int, MPI_Session_iflush_buffer, (MPI_Session session, MPI_Request *request));
BANYAN_DECLARE(int, MPI_Isend, (const void *buf, int count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm,
    MPI_Request *request));
BANYAN_DECLARE(int, MPI_Isend_c, (const void *buf, MPI_Count count, MPI_Datatype datatype, int dest, int tag,
    MPI_Comm comm, MPI_Request *request));
BANYAN_DECLARE(int, MPI_Ibsend, (const void *buf, int count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm,
    MPI_Request *request));
BANYAN_DECLARE(int, MPI_Ibsend_c, (const void *buf, MPI_Count count, MPI_Datatype datatype, int dest, int tag,
    MPI_Comm comm, MPI_Request *request));
BANYAN_DECLARE(int, MPI_Issend, (const void *buf, int count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm,
    MPI_Request *request));
BANYAN_DECLARE(int, MPI_Issend_c, (const void *buf, MPI_Count count, MPI_Datatype datatype, int dest, int tag,
    MPI_Comm comm, MPI_Request *request));
BANYAN_DECLARE(int, MPI_Irsend, (const void *buf, int count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm,
    MPI_Request *request));
BANYAN_DECLARE(int, MPI_Irsend_c, (const void *buf, MPI_Count count, MPI_Datatype datatype, int dest, int tag,
    MPI_Comm comm, MPI_Request *request));
BANYAN_DECLARE(int, MPI_Irecv, (void *buf, int count, MPI_Datatype datatype, int source, int tag, MPI_Comm comm,
    MPI_Request *request));
BANYAN_DECLARE(int, MPI_Irecv_c, (void *buf, MPI_Count count, MPI_Datatype datatype, int source, int tag, MPI_Comm comm,
    MPI_Request *request));
BANYAN_DECLARE(int, MPI_Wait, (MPI_Request *request, MPI_Status *status));
BANYAN_DECLARE(int, MPI_Test, (MPI_Request *request, int *flag, MPI_Status *status));
BANYAN_DECLARE(int, MPI_Request_free, (MPI_Request *request));
BANYAN_DECLARE(int, MPI_Waitany, (int count, MPI_Request array_of_requests[], int *indx, MPI_Status *status));
BANYAN_DECLARE(int, MPI_Testany, (int count, MPI_Request array_of_requests[], int *indx, int *flag,
    MPI_Status *status));
BANYAN_DECLARE(int, MPI_Waitall, (int count, MPI_Request array_of_requests[], MPI_Status array_of_statuses[]));
BANYAN_DECLARE(int, MPI_Testall, (int count, MPI_Request array_of_requests[], int *flag,
    MPI_Status array_of_statuses[]));
BANYAN_DECLARE(int, MPI_Waitsome, (int incount, MPI_Request array_of_requests[], int *outcount, int array_of_indices[],
    MPI_Status array_of_statuses[]));
BANYAN_DECLARE(int, MPI_Testsome, (int incount, MPI_Request array_of_requests[], int *outcount, int array_of_indices[],
    MPI_Status array_of_statuses[]));
BANYAN_DECLARE(int, MPI_Request_get_status, (MPI_Request request, int *flag, MPI_Status *status));
BANYAN_DECLARE(int, MPI_Request_get_status_any, (int count, const MPI_Request array_of_requests[], int *indx, int *flag,
    MPI_Status *status));
BANYAN_DECLARE(int, MPI_Request_get_status_all, (int count, const MPI_Request array_of_requests[], int *flag,
    MPI_Status array_of_statuses[]));
BANYAN_DECLARE(int, MPI_Request_get_status_some, (int incount, const MPI_Request array_of_requests[], int *outcount,
    int array_of_indices[], MPI_Status array_of_statuses[]));
BANYAN_DECLARE(int, MPI_Iprobe, (int source, int tag, MPI_Comm comm, int *flag, MPI_Status *status));
BANYAN_DECLARE(int, MPI_Probe, (int source, int tag, MPI_Comm comm, MPI_Status *status));
BANYAN_DECLARE(int, MPI_Improbe, (int source, int tag, MPI_Comm comm, int *flag, MPI_Message *message,
    MPI_Status *status));
BANYAN_DECLARE(int, MPI_Mprobe, (int source, int tag, MPI_Comm comm, MPI_Message *message, MPI_Status *status));
BANYAN_DECLARE(int, MPI_Mrecv, (void *buf, int count, MPI_Datatype datatype, MPI_Message *message, MPI_Status *status));
BANYAN_DECLARE(int, MPI_Mrecv_c, (void *buf, MPI_Count count, MPI_Datatype datatype, MPI_Message *message,
    MPI_Status *status));
BANYAN_DECLARE(int, MPI_Imrecv, (void *buf, int count, MPI_Datatype datatype, MPI_Message *message,
    MPI_Request *request));
BANYAN_DECLARE(int, MPI_Imrecv_c, (void *buf, MPI_Count count, MPI_Datatype datatype, MPI_Message *message,
    MPI_Request *request));
BANYAN_DECLARE(int, MPI_Cancel, (MPI_Request *request));
BANYAN_DECLARE(int, MPI_Test_cancelled, (const MPI_Status *status, int *flag));
BANYAN_DECLARE(int, MPI_Send_init, (const void *buf, int count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm,
    MPI_Request *request));
BANYAN_DECLARE(int, MPI_Send_init_c, (const void *buf, MPI_Count count, MPI_Datatype datatype, int dest, int tag,
    MPI_Comm comm, MPI_Request *request));
BANYAN_DECLARE(int, MPI_Bsend_init, (const void *buf, int count, MPI_Datatype datatype, int dest, int tag,
    MPI_Comm comm, MPI_Request *request));
BANYAN_DECLARE(int, MPI_Bsend_init_c, (const void *buf, MPI_Count count, MPI_Datatype datatype, int dest, int tag,
    MPI_Comm comm, MPI_Request *request));
BANYAN_DECLARE(int, MPI_Ssend_init, (const void *buf, int count, MPI_Datatype datatype, int dest, int tag,
    MPI_Comm comm, MPI_Request *request));
BANYAN_DECLARE(int, MPI_Ssend_init_c, (const void *buf, MPI_Count count, MPI_Datatype datatype, int dest, int tag,
    MPI_Comm comm, MPI_Request *request));
BANYAN_DECLARE(int, MPI_Rsend_init, (const void *buf, int count, MPI_Datatype datatype, int dest, int tag,
    MPI_Comm comm, MPI_Request *request));
BANYAN_DECLARE(int, MPI_Rsend_init_c, (const void *buf, MPI_Count count, MPI_Datatype datatype, int dest, int tag,
    MPI_Comm comm, MPI_Request *request));
BANYAN_DECLARE(int, MPI_Recv_init, (void *buf, int count, MPI_Datatype datatype, int source, int tag, MPI_Comm comm,
    MPI_Request *request));
BANYAN_DECLARE(int, MPI_Recv_init_c, (void *buf, MPI_Count count, MPI_Datatype datatype, int source, int tag,
    MPI_Comm comm, MPI_Request *request));
BANYAN_DECLARE(int, MPI_Start, (MPI_Request *request));
BANYAN_DECLARE(int, MPI_Startall, (int count, MPI_Request array_of_requests[]));
BANYAN_DECLARE(int, MPI_Sendrecv, (const void *sendbuf, int sendcount, MPI_Datatype sendtype, int dest, int sendtag,
    void *recvbuf, int recvcount, MPI_Datatype recvtype, int source, int recvtag, MPI_Comm comm, MPI_Status *status));
BANYAN_DECLARE(int, MPI_Sendrecv_c, (const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, int dest,
    int sendtag, void *recvbuf, MPI_Count recvcount, MPI_Datatype recvtype, int source, int recvtag, MPI_Comm comm,
    MPI_Status *status));
BANYAN_DECLARE(int, MPI_Sendrecv_replace, (void *buf, int count, MPI_Datatype datatype, int dest, int sendtag,
    int source, int recvtag, MPI_Comm comm, MPI_Status *status));
BANYAN_DECLARE(int, MPI_Sendrecv_replace_c, (void *buf, MPI_Count count, MPI_Datatype datatype, int dest, int sendtag,
    int source, int recvtag, MPI_Comm comm, MPI_Status *status));
BANYAN_DECLARE(int, MPI_Isendrecv, (const void *sendbuf, int sendcount, MPI_Datatype sendtype, int dest, int sendtag,
    void *recvbuf, int recvcount, MPI_Datatype recvtype, int source, int recvtag, MPI_Comm comm, MPI_Request *request));
BANYAN_DECLARE(int, MPI_Isendrecv_c, (const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, int dest,
    int sendtag, void *recvbuf, MPI_Count recvcount, MPI_Datatype recvtype, int source, int recvtag, MPI_Comm comm,
    MPI_Request *request));
BANYAN_DECLARE(int, MPI_Isendrecv_replace, (void *buf, int count, MPI_Datatype datatype, int dest, int sendtag,
    int source, int recvtag, MPI_Comm comm, MPI_Request *request));
BANYAN_DECLARE(int, MPI_Isendrecv_replace_c, (void *buf, MPI_Count count, MPI_Datatype datatype, int dest, int sendtag,
    int source, int recvtag, MPI_Comm comm, MPI_Request *request));

/* 4. Partitioned communication. */

BANYAN_DECLARE(int, MPI_Psend_init, (const void *buf, int partitions, MPI_Count count, MPI_Datatype datatype, int dest,
    int tag, MPI_Comm comm, MPI_Info info, MPI_Request *request));
BANYAN_DECLARE(int, MPI_Precv_init, (void *buf, int partitions, MPI_Count count, MPI_Datatype datatype, int source,
    int tag, MPI_Comm comm, MPI_Info info, MPI_Request *request));
BANYAN_DECLARE(int, MPI_Pready, (int partition, MPI_Request request));
BANYAN_DECLARE(int, MPI_Pready_range, (int partition_low, int partition_high, MPI_Request request));
BANYAN_DECLARE(int, MPI_Pready_list, (int length, const int array_of_partitions[], MPI_Request request));
BANYAN_DECLARE(int, MPI_Parrived, (MPI_Request request, int partition, int *flag));

/* 5. Datatypes. */

#define MPI_DATATYPE_NULL           ((MPI_Datatype)0x200)
#define MPI_AINT                    ((MPI_Datatype)0x201)
#define MPI_COUNT                   ((MPI_Datatype)0x202)
#define MPI_OFFSET                  ((MPI_Datatype)0x203)
#define MPI_PACKED                  ((MPI_Datatype)0x207)
#define MPI_SHORT                   ((MPI_Datatype)0x208)
#define MPI_INT                     ((MPI_Datatype)0x209)
#define MPI_LONG                    ((MPI_Datatype)0x20a)
#define MPI_LONG_LONG_INT           ((MPI_Datatype)0x20b)
#define MPI_LONG_LONG               MPI_LONG_LONG_INT
#define MPI_UNSIGNED_SHORT          ((MPI_Datatype)0x20c)
#define MPI_UNSIGNED                ((MPI_Datatype)0x20d)
#define MPI_UNSIGNED_LONG           ((MPI_Datatype)0x20e)
#define MPI_UNSIGNED_LONG_LONG      ((MPI_Datatype)0x20f)
#define MPI_FLOAT                   ((MPI_Datatype)0x210)
#define MPI_C_COMPLEX               ((MPI_Datatype)0x212)
#define MPI_C_FLOAT_COMPLEX         MPI_C_COMPLEX
#define MPI_CXX_FLOAT_COMPLEX       ((MPI_Datatype)0x213)
#define MPI_DOUBLE                  ((MPI_Datatype)0x214)
#define MPI_C_DOUBLE_COMPLEX        ((MPI_Datatype)0x216)
#define MPI_CXX_DOUBLE_COMPLEX      ((MPI_Datatype)0x217)
#define MPI_LOGICAL                 ((MPI_Datatype)0x218)
#define MPI_INTEGER                 ((MPI_Datatype)0x219)
#define MPI_REAL                    ((MPI_Datatype)0x21a)
#define MPI_COMPLEX                 ((MPI_Datatype)0x21b)
#define MPI_DOUBLE_PRECISION        ((MPI_Datatype)0x21c)
#define MPI_DOUBLE_COMPLEX          ((MPI_Datatype)0x21d)
#define MPI_CHARACTER               ((MPI_Datatype)0x21e)
#define MPI_LONG_DOUBLE             ((MPI_Datatype)0x220)
#define MPI_C_LONG_DOUBLE_COMPLEX   ((MPI_Datatype)0x224)
#define MPI_CXX_LONG_DOUBLE_COMPLEX ((MPI_Datatype)0x225)
#define MPI_FLOAT_INT               ((MPI_Datatype)0x228)
#define MPI_DOUBLE_INT              ((MPI_Datatype)0x229)
#define MPI_LONG_INT                ((MPI_Datatype)0x22a)
#define MPI_2INT                    ((MPI_Datatype)0x22b)
#define MPI_SHORT_INT               ((MPI_Datatype)0x22c)
#define MPI_LONG_DOUBLE_INT         ((MPI_Datatype)0x22d)
#define MPI_2REAL                   ((MPI_Datatype)0x230)
#define MPI_2DOUBLE_PRECISION       ((MPI_Datatype)0x231)
#define MPI_2INTEGER                ((MPI_Datatype)0x232)
#define MPI_C_BOOL                  ((MPI_Datatype)0x238)
#define MPI_CXX_BOOL                ((MPI_Datatype)0x239)
#define MPI_WCHAR                   ((MPI_Datatype)0x23c)
#define MPI_INT8_T                  ((MPI_Datatype)0x240)
#define MPI_UINT8_T                 ((MPI_Datatype)0x241)
#define MPI_CHAR                    ((MPI_Datatype)0x243)
#define MPI_SIGNED_CHAR             ((MPI_Datatype)0x244)
#define MPI_UNSIGNED_CHAR           ((MPI_Datatype)0x245)
#define MPI_BYTE                    ((MPI_Datatype)0x247)
#define MPI_INT16_T                 ((MPI_Datatype)0x248)
#define MPI_UINT16_T                ((MPI_Datatype)0x249)
#define MPI_INT32_T                 ((MPI_Datatype)0x250)
#define MPI_UINT32_T                ((MPI_Datatype)0x251)
#define MPI_INT64_T                 ((MPI_Datatype)0x258)
#define MPI_UINT64_T                ((MPI_Datatype)0x259)
#define MPI_LOGICAL1                ((MPI_Datatype)0x2c0)
#define MPI_INTEGER1                ((MPI_Datatype)0x2c1)
#define MPI_LOGICAL2                ((MPI_Datatype)0x2c8)
#define MPI_INTEGER2                ((MPI_Datatype)0x2c9)
#define MPI_REAL2                   ((MPI_Datatype)0x2ca)
#define MPI_LOGICAL4                ((MPI_Datatype)0x2d0)
#define MPI_INTEGER4                ((MPI_Datatype)0x2d1)
#define MPI_REAL4                   ((MPI_Datatype)0x2d2)
#define MPI_COMPLEX4                ((MPI_Datatype)0x2d3)
#define MPI_LOGICAL8                ((MPI_Datatype)0x2d8)
#define MPI_INTEGER8                ((MPI_Datatype)0x2d9)
#define MPI_REAL8                   ((MPI_Datatype)0x2da)
#define MPI_COMPLEX8                ((MPI_Datatype)0x2db)
#define MPI_LOGICAL16               ((MPI_Datatype)0x2e0)
#define MPI_INTEGER16               ((MPI_Datatype)0x2e1)
#define MPI_REAL16                  ((MPI_Datatype)0x2e2)
#define MPI_COMPLEX16               ((MPI_Datatype)0x2e3)
#define MPI_COMPLEX32               ((MPI_Datatype)0x2eb)

#define MPI_ORDER_C              12
#define MPI_ORDER_FORTRAN        15
#define MPI_DISTRIBUTE_NONE      16
#define MPI_DISTRIBUTE_BLOCK     17
#define MPI_DISTRIBUTE_CYCLIC    18
#define MPI_DISTRIBUTE_DFLT_DARG 19

#define MPI_COMBINER_NAMED          101
#define MPI_COMBINER_DUP            102
#define MPI_COMBINER_CONTIGUOUS     103
#define MPI_COMBINER_VECTOR         104
#define MPI_COMBINER_HVECTOR        105
#define MPI_COMBINER_INDEXED        106
#define MPI_COMBINER_HINDEXED       107
#define MPI_COMBINER_INDEXED_BLOCK  108
#define MPI_COMBINER_HINDEXED_BLOCK 109
#define MPI_COMBINER_STRUCT         110
#define MPI_COMBINER_SUBARRAY       111
#define MPI_COMBINER_DARRAY         112
#define MPI_COMBINER_F90_REAL       113
#define MPI_COMBINER_F90_COMPLEX    114
#define MPI_COMBINER_F90_INTEGER    115
#define MPI_COMBINER_RESIZED        116
#define MPI_COMBINER_VALUE_INDEX    117

BANYAN_DECLARE(int, MPI_Type_contiguous, (int count, MPI_Datatype oldtype, MPI_Datatype *newtype));
BANYAN_DECLARE(int, MPI_Type_contiguous_c, (MPI_Count count, MPI_Datatype oldtype, MPI_Datatype *newtype));
BANYAN_DECLARE(int, MPI_Type_vector, (int count, int blocklength, int stride, MPI_Datatype oldtype,
    MPI_Datatype *newtype));
BANYAN_DECLARE(int, MPI_Type_vector_c, (MPI_Count count, MPI_Count blocklength, MPI_Count stride, MPI_Datatype oldtype,
    MPI_Datatype *newtype));
BANYAN_DECLARE(int, MPI_Type_create_hvector, (int count, int blocklength, MPI_Aint stride, MPI_Datatype oldtype,
    MPI_Datatype *newtype));
BANYAN_DECLARE(int, MPI_Type_create_hvector_c, (MPI_Count count, MPI_Count blocklength, MPI_Count stride,
    MPI_Datatype oldtype, MPI_Datatype *newtype));
BANYAN_DECLARE(int, MPI_Type_indexed, (int count, const int array_of_blocklengths[], const int array_of_displacements[],
    MPI_Datatype oldtype, MPI_Datatype *newtype));
BANYAN_DECLARE(int, MPI_Type_indexed_c, (MPI_Count count, const MPI_Count array_of_blocklengths[],
    const MPI_Count array_of_displacements[], MPI_Datatype oldtype, MPI_Datatype *newtype));
BANYAN_DECLARE(int, MPI_Type_create_hindexed, (int count, const int array_of_blocklengths[],
    const MPI_Aint array_of_displacements[], MPI_Datatype oldtype, MPI_Datatype *newtype));
BANYAN_DECLARE(int, MPI_Type_create_hindexed_c, (MPI_Count count, const MPI_Count array_of_blocklengths[],
    const MPI_Count array_of_displacements[], MPI_Datatype oldtype, MPI_Datatype *newtype));
BANYAN_DECLARE(int, MPI_Type_create_indexed_block, (int count, int blocklength, const int array_of_displacements[],
    MPI_Datatype oldtype, MPI_Datatype *newtype));
BANYAN_DECLARE(int, MPI_Type_create_indexed_block_c, (MPI_Count count, MPI_Count blocklength,
    const MPI_Count array_of_displacements[], MPI_Datatype oldtype, MPI_Datatype *newtype));
BANYAN_DECLARE(int, MPI_Type_create_hindexed_block, (int count, int blocklength,
    const MPI_Aint array_of_displacements[], MPI_Datatype oldtype, MPI_Datatype *newtype));
BANYAN_DECLARE(int, MPI_Type_create_hindexed_block_c, (MPI_Count count, MPI_Count blocklength,
    const MPI_Count array_of_displacements[], MPI_Datatype oldtype, MPI_Datatype *newtype));
BANYAN_DECLARE(int, MPI_Type_create_struct, (int count, const int array_of_blocklengths[],
    const MPI_Aint array_of_displacements[], const MPI_Datatype array_of_types[], MPI_Datatype *newtype));
BANYAN_DECLARE(int, MPI_Type_create_struct_c, (MPI_Count count, const MPI_Count array_of_blocklengths[],
    const MPI_Count array_of_displacements[], const MPI_Datatype array_of_types[], MPI_Datatype *newtype));
BANYAN_DECLARE(int, MPI_Type_create_subarray, (int ndims, const int array_of_sizes[], const int array_of_subsizes[],
    const int array_of_starts[], int order, MPI_Datatype oldtype, MPI_Datatype *newtype));
BANYAN_DECLARE(int, MPI_Type_create_subarray_c, (int ndims, const MPI_Count array_of_sizes[],
    const MPI_Count array_of_subsizes[], const MPI_Count array_of_starts[], int order, MPI_Datatype oldtype,
    MPI_Datatype *newtype));
BANYAN_DECLARE(int, MPI_Type_create_darray, (int size, int rank, int ndims, const int array_of_gsizes[],
    const int array_of_distribs[], const int array_of_dargs[], const int array_of_psizes[], int order,
    MPI_Datatype oldtype, MPI_Datatype *newtype));
BANYAN_DECLARE(int, MPI_Type_create_darray_c, (int size, int rank, int ndims, const MPI_Count array_of_gsizes[],
    const int array_of_distribs[], const int array_of_dargs[], const int array_of_psizes[], int order,
    MPI_Datatype oldtype, MPI_Datatype *newtype));
BANYAN_DECLARE(int, MPI_Get_address, (const void *location, MPI_Aint *address));
BANYAN_DECLARE(MPI_Aint, MPI_Aint_add, (MPI_Aint base, MPI_Aint disp));
BANYAN_DECLARE(MPI_Aint, MPI_Aint_diff, (MPI_Aint addr1, MPI_Aint addr2));
BANYAN_DECLARE(int, MPI_Type_size, (MPI_Datatype datatype, int *size));
BANYAN_DECLARE(int, MPI_Type_size_c, (MPI_Datatype datatype, MPI_Count *size));
BANYAN_DECLARE(int, MPI_Type_get_extent, (MPI_Datatype datatype, MPI_Aint *lb, MPI_Aint *extent));
BANYAN_DECLARE(int, MPI_Type_get_extent_c, (MPI_Datatype datatype, MPI_Count *lb, MPI_Count *extent));
BANYAN_DECLARE(int, MPI_Type_create_resized, (MPI_Datatype oldtype, MPI_Aint lb, MPI_Aint extent,
    MPI_Datatype *newtype));
BANYAN_DECLARE(int, MPI_Type_create_resized_c, (MPI_Datatype oldtype, MPI_Count lb, MPI_Count extent,
    MPI_Datatype *newtype));
BANYAN_DECLARE(int, MPI_Type_get_true_extent, (MPI_Datatype datatype, MPI_Aint *true_lb, MPI_Aint *true_extent));
BANYAN_DECLARE(int, MPI_Type_get_true_extent_c, (MPI_Datatype datatype, MPI_Count *true_lb, MPI_Count *true_extent));
BANYAN_DECLARE(int, MPI_Type_commit, (MPI_Datatype *datatype));
BANYAN_DECLARE(int, MPI_Type_free, (MPI_Datatype *datatype));
BANYAN_DECLARE(int, MPI_Type_dup, (MPI_Datatype oldtype, MPI_Datatype *newtype));
BANYAN_DECLARE(int, MPI_Get_elements, (const MPI_Status *status, MPI_Datatype datatype, int *count));
BANYAN_DECLARE(int, MPI_Get_elements_c, (const MPI_Status *status, MPI_Datatype datatype, MPI_Count *count));
BANYAN_DECLARE(int, MPI_Type_get_envelope, (MPI_Datatype datatype, int *num_integers, int *num_addresses,
    int *num_datatypes, int *combiner));
BANYAN_DECLARE(int, MPI_Type_get_envelope_c, (MPI_Datatype datatype, MPI_Count *num_integers, MPI_Count *num_addresses,
    MPI_Count *num_large_counts, MPI_Count *num_datatypes, int *combiner));
BANYAN_DECLARE(int, MPI_Type_get_contents, (MPI_Datatype datatype, int max_integers, int max_addresses,
    int max_datatypes, int array_of_integers[], MPI_Aint array_of_addresses[], MPI_Datatype array_of_datatypes[]));
BANYAN_DECLARE(int, MPI_Type_get_contents_c, (MPI_Datatype datatype, MPI_Count max_integers, MPI_Count max_addresses,
    MPI_Count max_large_counts, MPI_Count max_datatypes, int array_of_integers[], MPI_Aint array_of_addresses[],
    MPI_Count array_of_large_counts[], MPI_Datatype array_of_datatypes[]));
BANYAN_DECLARE(int, MPI_Type_get_value_index, (MPI_Datatype value_type, MPI_Datatype index_type,
    MPI_Datatype *pair_type));
BANYAN_DECLARE(int, MPI_Pack, (const void *inbuf, int incount, MPI_Datatype datatype, void *outbuf, int outsize,
    int *position, MPI_Comm comm));
BANYAN_DECLARE(int, MPI_Pack_c, (const void *inbuf, MPI_Count incount, MPI_Datatype datatype, void *outbuf,
    MPI_Count outsize, MPI_Count *position, MPI_Comm comm));
BANYAN_DECLARE(int, MPI_Unpack, (const void *inbuf, int insize, int *position, void *outbuf, int outcount,
    MPI_Datatype datatype, MPI_Comm comm));
BANYAN_DECLARE(int, MPI_Unpack_c, (const void *inbuf, MPI_Count insize, MPI_Count *position, void *outbuf,
    MPI_Count outcount, MPI_Datatype datatype, MPI_Comm comm));
BANYAN_DECLARE(int, MPI_Pack_size, (int incount, MPI_Datatype datatype, MPI_Comm comm, int *size));
BANYAN_DECLARE(int, MPI_Pack_size_c, (MPI_Count incount, MPI_Datatype datatype, MPI_Comm comm, MPI_Count *size));
BANYAN_DECLARE(int, MPI_Pack_external, (const char datarep[], const void *inbuf, int incount, MPI_Datatype datatype,
    void *outbuf, MPI_Aint outsize, MPI_Aint *position));
BANYAN_DECLARE(int, MPI_Pack_external_c, (const char datarep[], const void *inbuf, MPI_Count incount,
    MPI_Datatype datatype, void *outbuf, MPI_Count outsize, MPI_Count *position));
BANYAN_DECLARE(int, MPI_Unpack_external, (const char datarep[], const void *inbuf, MPI_Aint insize, MPI_Aint *position,
    void *outbuf, int outcount, MPI_Datatype datatype));
BANYAN_DECLARE(int, MPI_Unpack_external_c, (const char datarep[], const void *inbuf, MPI_Count insize,
    MPI_Count *position, void *outbuf, MPI_Count outcount, MPI_Datatype datatype));
BANYAN_DECLARE(int, MPI_Pack_external_size, (const char datarep[], int incount, MPI_Datatype datatype, MPI_Aint *size));
BANYAN_DECLARE(int, MPI_Pack_external_size_c, (const char datarep[], MPI_Count incount, MPI_Datatype datatype,
    MPI_Count *size));

/* 6. Collective communication. */

#define MPI_ROOT (-4)

#define MPI_OP_NULL ((MPI_Op)0x20)
#define MPI_SUM     ((MPI_Op)0x21)
#define MPI_MIN     ((MPI_Op)0x22)
#define MPI_MAX     ((MPI_Op)0x23)
#define MPI_PROD    ((MPI_Op)0x24)
#define MPI_BAND    ((MPI_Op)0x28)
#define MPI_BOR     ((MPI_Op)0x29)
#define MPI_BXOR    ((MPI_Op)0x2a)
#define MPI_LAND    ((MPI_Op)0x30)
#define MPI_LOR     ((MPI_Op)0x31)
#define MPI_LXOR    ((MPI_Op)0x32)
#define MPI_MINLOC  ((MPI_Op)0x38)
#define MPI_MAXLOC  ((MPI_Op)0x39)
#define MPI_REPLACE ((MPI_Op)0x3c)
#define MPI_NO_OP   ((MPI_Op)0x3d)

typedef void MPI_User_function(void *invec, void *inoutvec, int *len, MPI_Datatype *datatype);
typedef void MPI_User_function_c(void *invec, void *inoutvec, MPI_Count *len, MPI_Datatype *datatype);

BANYAN_DECLARE(int, MPI_Barrier, (MPI_Comm comm));
BANYAN_DECLARE(int, MPI_Ibarrier, (MPI_Comm comm, MPI_Request *request));
BANYAN_DECLARE(int, MPI_Barrier_init, (MPI_Comm comm, MPI_Info info, MPI_Request *request));
BANYAN_DECLARE(int, MPI_Bcast, (void *buffer, int count, MPI_Datatype datatype, int root, MPI_Comm comm));
BANYAN_DECLARE(int, MPI_Bcast_c, (void *buffer, MPI_Count count, MPI_Datatype datatype, int root, MPI_Comm comm));
BANYAN_DECLARE(int, MPI_Ibcast, (void *buffer, int count, MPI_Datatype datatype, int root, MPI_Comm comm,
    MPI_Request *request));
BANYAN_DECLARE(int, MPI_Ibcast_c, (void *buffer, MPI_Count count, MPI_Datatype datatype, int root, MPI_Comm comm,
    MPI_Request *request));
BANYAN_DECLARE(int, MPI_Bcast_init, (void *buffer, int count, MPI_Datatype datatype, int root, MPI_Comm comm,
    MPI_Info info, MPI_Request *request));
BANYAN_DECLARE(int, MPI_Bcast_init_c, (void *buffer, MPI_Count count, MPI_Datatype datatype, int root, MPI_Comm comm,
    MPI_Info info, MPI_Request *request));
BANYAN_DECLARE(int, MPI_Gather, (const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf,
    int recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm));
BANYAN_DECLARE(int, MPI_Gather_c, (const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void *recvbuf,
    MPI_Count recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm));
BANYAN_DECLARE(int, MPI_Igather, (const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf,
    int recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm, MPI_Request *request));
BANYAN_DECLARE(int, MPI_Igather_c, (const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void *recvbuf,
    MPI_Count recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm, MPI_Request *request));
BANYAN_DECLARE(int, MPI_Gather_init, (const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf,
    int recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm, MPI_Info info, MPI_Request *request));
BANYAN_DECLARE(int, MPI_Gather_init_c, (const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void *recvbuf,
    MPI_Count recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm, MPI_Info info, MPI_Request *request));
BANYAN_DECLARE(int, MPI_Gatherv, (const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf,
    const int recvcounts[], const int displs[], MPI_Datatype recvtype, int root, MPI_Comm comm));
BANYAN_DECLARE(int, MPI_Gatherv_c, (const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void *recvbuf,
    const MPI_Count recvcounts[], const MPI_Aint displs[], MPI_Datatype recvtype, int root, MPI_Comm comm));
BANYAN_DECLARE(int, MPI_Igatherv, (const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf,
    const int recvcounts[], const int displs[], MPI_Datatype recvtype, int root, MPI_Comm comm, MPI_Request *request));
BANYAN_DECLARE(int, MPI_Igatherv_c, (const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void *recvbuf,
    const MPI_Count recvcounts[], const MPI_Aint displs[], MPI_Datatype recvtype, int root, MPI_Comm comm,
    MPI_Request *request));
BANYAN_DECLARE(int, MPI_Gatherv_init, (const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf,
    const int recvcounts[], const int displs[], MPI_Datatype recvtype, int root, MPI_Comm comm, MPI_Info info,
    MPI_Request *request));
BANYAN_DECLARE(int, MPI_Gatherv_init_c, (const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void *recvbuf,
    const MPI_Count recvcounts[], const MPI_Aint displs[], MPI_Datatype recvtype, int root, MPI_Comm comm,
    MPI_Info info, MPI_Request *request));
BANYAN_DECLARE(int, MPI_Scatter, (const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf,
    int recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm));
BANYAN_DECLARE(int, MPI_Scatter_c, (const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void *recvbuf,
    MPI_Count recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm));
BANYAN_DECLARE(int, MPI_Iscatter, (const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf,
    int recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm, MPI_Request *request));
BANYAN_DECLARE(int, MPI_Iscatter_c, (const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void *recvbuf,
    MPI_Count recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm, MPI_Request *request));
BANYAN_DECLARE(int, MPI_Scatter_init, (const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf,
    int recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm, MPI_Info info, MPI_Request *request));
BANYAN_DECLARE(int, MPI_Scatter_init_c, (const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void *recvbuf,
    MPI_Count recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm, MPI_Info info, MPI_Request *request));
BANYAN_DECLARE(int, MPI_Scatterv, (const void *sendbuf, const int sendcounts[], const int displs[],
    MPI_Datatype sendtype, void *recvbuf, int recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm));
BANYAN_DECLARE(int, MPI_Scatterv_c, (const void *sendbuf, const MPI_Count sendcounts[], const MPI_Aint displs[],
    MPI_Datatype sendtype, void *recvbuf, MPI_Count recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm));
BANYAN_DECLARE(int, MPI_Iscatterv, (const void *sendbuf, const int sendcounts[], const int displs[],
    MPI_Datatype sendtype, void *recvbuf, int recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm,
    MPI_Request *request));
BANYAN_DECLARE(int, MPI_Iscatterv_c, (const void *sendbuf, const MPI_Count sendcounts[], const MPI_Aint displs[],
    MPI_Datatype sendtype, void *recvbuf, MPI_Count recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm,
    MPI_Request *request));
BANYAN_DECLARE(int, MPI_Scatterv_init, (const void *sendbuf, const int sendcounts[], const int displs[],
    MPI_Datatype sendtype, void *recvbuf, int recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm, MPI_Info info,
    MPI_Request *request));
BANYAN_DECLARE(int, MPI_Scatterv_init_c, (const void *sendbuf, const MPI_Count sendcounts[], const MPI_Aint displs[],
    MPI_Datatype sendtype, void *recvbuf, MPI_Count recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm,
    MPI_Info info, MPI_Request *request));
BANYAN_DECLARE(int, MPI_Allgather, (const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf,
    int recvcount, MPI_Datatype recvtype, MPI_Comm comm));
BANYAN_DECLARE(int, MPI_Allgather_c, (const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void *recvbuf,
    MPI_Count recvcount, MPI_Datatype recvtype, MPI_Comm comm));
BANYAN_DECLARE(int, MPI_Iallgather, (const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf,
    int recvcount, MPI_Datatype recvtype, MPI_Comm comm, MPI_Request *request));
BANYAN_DECLARE(int, MPI_Iallgather_c, (const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void *recvbuf,
    MPI_Count recvcount, MPI_Datatype recvtype, MPI_Comm comm, MPI_Request *request));
BANYAN_DECLARE(int, MPI_Allgather_init, (const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf,
    int recvcount, MPI_Datatype recvtype, MPI_Comm comm, MPI_Info info, MPI_Request *request));
BANYAN_DECLARE(int, MPI_Allgather_init_c, (const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype,
    void *recvbuf, MPI_Count recvcount, MPI_Datatype recvtype, MPI_Comm comm, MPI_Info info, MPI_Request *request));
BANYAN_DECLARE(int, MPI_Allgatherv, (const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf,
    const int recvcounts[], const int displs[], MPI_Datatype recvtype, MPI_Comm comm));
BANYAN_DECLARE(int, MPI_Allgatherv_c, (const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void *recvbuf,
    const MPI_Count recvcounts[], const MPI_Aint displs[], MPI_Datatype recvtype, MPI_Comm comm));
BANYAN_DECLARE(int, MPI_Iallgatherv, (const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf,
    const int recvcounts[], const int displs[], MPI_Datatype recvtype, MPI_Comm comm, MPI_Request *request));
BANYAN_DECLARE(int, MPI_Iallgatherv_c, (const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void *recvbuf,
    const MPI_Count recvcounts[], const MPI_Aint displs[], MPI_Datatype recvtype, MPI_Comm comm, MPI_Request *request));
BANYAN_DECLARE(int, MPI_Allgatherv_init, (const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf,
    const int recvcounts[], const int displs[], MPI_Datatype recvtype, MPI_Comm comm, MPI_Info info,
    MPI_Request *request));
BANYAN_DECLARE(int, MPI_Allgatherv_init_c, (const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype,
    void *recvbuf, const MPI_Count recvcounts[], const MPI_Aint displs[], MPI_Datatype recvtype, MPI_Comm comm,
    MPI_Info info, MPI_Request *request));
BANYAN_DECLARE(int, MPI_Alltoall, (const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf,
    int recvcount, MPI_Datatype recvtype, MPI_Comm comm));
BANYAN_DECLARE(int, MPI_Alltoall_c, (const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void *recvbuf,
    MPI_Count recvcount, MPI_Datatype recvtype, MPI_Comm comm));
BANYAN_DECLARE(int, MPI_Ialltoall, (const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf,
    int recvcount, MPI_Datatype recvtype, MPI_Comm comm, MPI_Request *request));
BANYAN_DECLARE(int, MPI_Ialltoall_c, (const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void *recvbuf,
    MPI_Count recvcount, MPI_Datatype recvtype, MPI_Comm comm, MPI_Request *request));
BANYAN_DECLARE(int, MPI_Alltoall_init, (const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf,
    int recvcount, MPI_Datatype recvtype, MPI_Comm comm, MPI_Info info, MPI_Request *request));
BANYAN_DECLARE(int, MPI_Alltoall_init_c, (const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype,
    void *recvbuf, MPI_Count recvcount, MPI_Datatype recvtype, MPI_Comm comm, MPI_Info info, MPI_Request *request));
BANYAN_DECLARE(int, MPI_Alltoallv, (const void *sendbuf, const int sendcounts[], const int sdispls[],
    MPI_Datatype sendtype, void *recvbuf, const int recvcounts[], const int rdispls[], MPI_Datatype recvtype,
    MPI_Comm comm));
BANYAN_DECLARE(int, MPI_Alltoallv_c, (const void *sendbuf, const MPI_Count sendcounts[], const MPI_Aint sdispls[],
    MPI_Datatype sendtype, void *recvbuf, const MPI_Count recvcounts[], const MPI_Aint rdispls[], MPI_Datatype recvtype,
    MPI_Comm comm));
BANYAN_DECLARE(int, MPI_Ialltoallv, (const void *sendbuf, const int sendcounts[], const int sdispls[],
    MPI_Datatype sendtype, void *recvbuf, const int recvcounts[], const int rdispls[], MPI_Datatype recvtype,
    MPI_Comm comm, MPI_Request *request));
BANYAN_DECLARE(int, MPI_Ialltoallv_c, (const void *sendbuf, const MPI_Count sendcounts[], const MPI_Aint sdispls[],
    MPI_Datatype sendtype, void *recvbuf, const MPI_Count recvcounts[], const MPI_Aint rdispls[], MPI_Datatype recvtype,
    MPI_Comm comm, MPI_Request *request));
BANYAN_DECLARE(int, MPI_Alltoallv_init, (const void *sendbuf, const int sendcounts[], const int sdispls[],
    MPI_Datatype sendtype, void *recvbuf, const int recvcounts[], const int rdispls[], MPI_Datatype recvtype,
    MPI_Comm comm, MPI_Info info, MPI_Request *request));
BANYAN_DECLARE(int, MPI_Alltoallv_init_c, (const void *sendbuf, const MPI_Count sendcounts[], const MPI_Aint sdispls[],
    MPI_Datatype sendtype, void *recvbuf, const MPI_Count recvcounts[], const MPI_Aint rdispls[], MPI_Datatype recvtype,
    MPI_Comm comm, MPI_Info info, MPI_Request *request));
BANYAN_DECLARE(int, MPI_Alltoallw, (const void *sendbuf, const int sendcounts[], const int sdispls[],
    const MPI_Datatype sendtypes[], void *recvbuf, const int recvcounts[], const int rdispls[],
    const MPI_Datatype recvtypes[], MPI_Comm comm));
BANYAN_DECLARE(int, MPI_Alltoallw_c, (const void *sendbuf, const MPI_Count sendcounts[], const MPI_Aint sdispls[],
    const MPI_Datatype sendtypes[], void *recvbuf, const MPI_Count recvcounts[], const MPI_Aint rdispls[],
    const MPI_Datatype recvtypes[], MPI_Comm comm));
BANYAN_DECLARE(int, MPI_Ialltoallw, (const void *sendbuf, const int sendcounts[], const int sdispls[],
    const MPI_Datatype sendtypes[], void *recvbuf, const int recvcounts[], const int rdispls[],
    const MPI_Datatype recvtypes[], MPI_Comm comm, MPI_Request *request));
BANYAN_DECLARE(int, MPI_Ialltoallw_c, (const void *sendbuf, const MPI_Count sendcounts[], const MPI_Aint sdispls[],
    const MPI_Datatype sendtypes[], void *recvbuf, const MPI_Count recvcounts[], const MPI_Aint rdispls[],
    const MPI_Datatype recvtypes[], MPI_Comm comm, MPI_Request *request));
BANYAN_DECLARE(int, MPI_Alltoallw_init, (const void *sendbuf, const int sendcounts[], const int sdispls[],
    const MPI_Datatype sendtypes[], void *recvbuf, const int recvcounts[], const int rdispls[],
    const MPI_Datatype recvtypes[], MPI_Comm comm, MPI_Info info, MPI_Request *request));
BANYAN_DECLARE(int, MPI_Alltoallw_init_c, (const void *sendbuf, const MPI_Count sendcounts[], const MPI_Aint sdispls[],
    const MPI_Datatype sendtypes[], void *recvbuf, const MPI_Count recvcounts[], const MPI_Aint rdispls[],
    const MPI_Datatype recvtypes[], MPI_Comm comm, MPI_Info info, MPI_Request *request));
BANYAN_DECLARE(int, MPI_Reduce, (const void *sendbuf, void *recvbuf, int count, MPI_Datatype datatype, MPI_Op op,
    int root, MPI_Comm comm));
BANYAN_DECLARE(int, MPI_Reduce_c, (const void *sendbuf, void *recvbuf, MPI_Count count, MPI_Datatype datatype,
    MPI_Op op, int root, MPI_Comm comm));
BANYAN_DECLARE(int, MPI_Ireduce, (const void *sendbuf, void *recvbuf, int count, MPI_Datatype datatype, MPI_Op op,
    int root, MPI_Comm comm, MPI_Request *request));
BANYAN_DECLARE(int, MPI_Ireduce_c, (const void *sendbuf, void *recvbuf, MPI_Count count, MPI_Datatype datatype,
    MPI_Op op, int root, MPI_Comm comm, MPI_Request *request));
BANYAN_DECLARE(int, MPI_Reduce_init, (const void *sendbuf, void *recvbuf, int count, MPI_Datatype datatype, MPI_Op op,
    int root, MPI_Comm comm, MPI_Info info, MPI_Request *request));
BANYAN_DECLARE(int, MPI_Reduce_init_c, (const void *sendbuf, void *recvbuf, MPI_Count count, MPI_Datatype datatype,
    MPI_Op op, int root, MPI_Comm comm, MPI_Info info, MPI_Request *request));
BANYAN_DECLARE(int, MPI_Allreduce, (const void *sendbuf, void *recvbuf, int count, MPI_Datatype datatype, MPI_Op op,
    MPI_Comm comm));
BANYAN_DECLARE(int, MPI_Allreduce_c, (const void *sendbuf, void *recvbuf, MPI_Count count, MPI_Datatype datatype,
    MPI_Op op, MPI_Comm comm));
BANYAN_DECLARE(int, MPI_Iallreduce, (const void *sendbuf, void *recvbuf, int count, MPI_Datatype datatype, MPI_Op op,
    MPI_Comm comm, MPI_Request *request));
BANYAN_DECLARE(int, MPI_Iallreduce_c, (const void *sendbuf, void *recvbuf, MPI_Count count, MPI_Datatype datatype,
    MPI_Op op, MPI_Comm comm, MPI_Request *request));
BANYAN_DECLARE(int, MPI_Allreduce_init, (const void *sendbuf, void *recvbuf, int count, MPI_Datatype datatype,
    MPI_Op op, MPI_Comm comm, MPI_Info info, MPI_Request *request));
BANYAN_DECLARE(int, MPI_Allreduce_init_c, (const void *sendbuf, void *recvbuf, MPI_Count count, MPI_Datatype datatype,
    MPI_Op op, MPI_Comm comm, MPI_Info info, MPI_Request *request));
BANYAN_DECLARE(int, MPI_Reduce_scatter_block, (const void *sendbuf, void *recvbuf, int recvcount, MPI_Datatype datatype,
    MPI_Op op, MPI_Comm comm));
BANYAN_DECLARE(int, MPI_Reduce_scatter_block_c, (const void *sendbuf, void *recvbuf, MPI_Count recvcount,
    MPI_Datatype datatype, MPI_Op op, MPI_Comm comm));
BANYAN_DECLARE(int, MPI_Ireduce_scatter_block, (const void *sendbuf, void *recvbuf, int recvcount,
    MPI_Datatype datatype, MPI_Op op, MPI_Comm comm, MPI_Request *request));
BANYAN_DECLARE(int, MPI_Ireduce_scatter_block_c, (const void *sendbuf, void *recvbuf, MPI_Count recvcount,
    MPI_Datatype datatype, MPI_Op op, MPI_Comm comm, MPI_Request *request));
BANYAN_DECLARE(int, MPI_Reduce_scatter_block_init, (const void *sendbuf, void *recvbuf, int recvcount,
    MPI_Datatype datatype, MPI_Op op, MPI_Comm comm, MPI_Info info, MPI_Request *request));
BANYAN_DECLARE(int, MPI_Reduce_scatter_block_init_c, (const void *sendbuf, void *recvbuf, MPI_Count recvcount,
    MPI_Datatype datatype, MPI_Op op, MPI_Comm comm, MPI_Info info, MPI_Request *request));
BANYAN_DECLARE(int, MPI_Reduce_scatter, (const void *sendbuf, void *recvbuf, const int recvcounts[],
    MPI_Datatype datatype, MPI_Op op, MPI_Comm comm));
BANYAN_DECLARE(int, MPI_Reduce_scatter_c, (const void *sendbuf, void *recvbuf, const MPI_Count recvcounts[],
    MPI_Datatype datatype, MPI_Op op, MPI_Comm comm));
BANYAN_DECLARE(int, MPI_Ireduce_scatter, (const void *sendbuf, void *recvbuf, const int recvcounts[],
    MPI_Datatype datatype, MPI_Op op, MPI_Comm comm, MPI_Request *request));
BANYAN_DECLARE(int, MPI_Ireduce_scatter_c, (const void *sendbuf, void *recvbuf, const MPI_Count recvcounts[],
    MPI_Datatype datatype, MPI_Op op, MPI_Comm comm, MPI_Request *request));
BANYAN_DECLARE(int, MPI_Reduce_scatter_init, (const void *sendbuf, void *recvbuf, const int recvcounts[],
    MPI_Datatype datatype, MPI_Op op, MPI_Comm comm, MPI_Info info, MPI_Request *request));
BANYAN_DECLARE(int, MPI_Reduce_scatter_init_c, (const void *sendbuf, void *recvbuf, const MPI_Count recvcounts[],
    MPI_Datatype datatype, MPI_Op op, MPI_Comm comm, MPI_Info info, MPI_Request *request));
BANYAN_DECLARE(int, MPI_Scan, (const void *sendbuf, void *recvbuf, int count, MPI_Datatype datatype, MPI_Op op,
    MPI_Comm comm));
BANYAN_DECLARE(int, MPI_Scan_c, (const void *sendbuf, void *recvbuf, MPI_Count count, MPI_Datatype datatype, MPI_Op op,
    MPI_Comm comm));
BANYAN_DECLARE(int, MPI_Iscan, (const void *sendbuf, void *recvbuf, int count, MPI_Datatype datatype, MPI_Op op,
    MPI_Comm comm, MPI_Request *request));
BANYAN_DECLARE(int, MPI_Iscan_c, (const void *sendbuf, void *recvbuf, MPI_Count count, MPI_Datatype datatype, MPI_Op op,
    MPI_Comm comm, MPI_Request *request));
BANYAN_DECLARE(int, MPI_Scan_init, (const void *sendbuf, void *recvbuf, int count, MPI_Datatype datatype, MPI_Op op,
    MPI_Comm comm, MPI_Info info, MPI_Request *request));
BANYAN_DECLARE(int, MPI_Scan_init_c, (const void *sendbuf, void *recvbuf, MPI_Count count, MPI_Datatype datatype,
    MPI_Op op, MPI_Comm comm, MPI_Info info, MPI_Request *request));
BANYAN_DECLARE(int, MPI_Exscan, (const void *sendbuf, void *recvbuf, int count, MPI_Datatype datatype, MPI_Op op,
    MPI_Comm comm));
BANYAN_DECLARE(int, MPI_Exscan_c, (const void *sendbuf, void *recvbuf, MPI_Count count, MPI_Datatype datatype,
    MPI_Op op, MPI_Comm comm));
BANYAN_DECLARE(int, MPI_Iexscan, (const void *sendbuf, void *recvbuf, int count, MPI_Datatype datatype, MPI_Op op,
    MPI_Comm comm, MPI_Request *request));
BANYAN_DECLARE(int, MPI_Iexscan_c, (const void *sendbuf, void *recvbuf, MPI_Count count, MPI_Datatype datatype,
    MPI_Op op, MPI_Comm comm, MPI_Request *request));
BANYAN_DECLARE(int, MPI_Exscan_init, (const void *sendbuf, void *recvbuf, int count, MPI_Datatype datatype, MPI_Op op,
    MPI_Comm comm, MPI_Info info, MPI_Request *request));
BANYAN_DECLARE(int, MPI_Exscan_init_c, (const void *sendbuf, void *recvbuf, MPI_Count count, MPI_Datatype datatype,
    MPI_Op op, MPI_Comm comm, MPI_Info info, MPI_Request *request));
BANYAN_DECLARE(int, MPI_Reduce_local, (const void *inbuf, void *inoutbuf, int count, MPI_Datatype datatype, MPI_Op op));
BANYAN_DECLARE(int, MPI_Reduce_local_c, (const void *inbuf, void *inoutbuf, MPI_Count count, MPI_Datatype datatype,
    MPI_Op op));
BANYAN_DECLARE(int, MPI_Op_create, (MPI_User_function *user_fn, int commute, MPI_Op *op));
BANYAN_DECLARE(int, MPI_Op_create_c, (MPI_User_function_c *user_fn, int commute, MPI_Op *op));
BANYAN_DECLARE(int, MPI_Op_free, (MPI_Op *op));
BANYAN_DECLARE(int, MPI_Op_commutative, (MPI_Op op, int *commute));

/* 7. Groups, contexts, communicators and caching. */

#define MPI_COMM_NULL   ((MPI_Comm)0x100)
#define MPI_COMM_WORLD  ((MPI_Comm)0x101)
#define MPI_COMM_SELF   ((MPI_Comm)0x102)
#define MPI_GROUP_NULL  ((MPI_Group)0x108)
#define MPI_GROUP_EMPTY ((MPI_Group)0x109)

#define MPI_IDENT     201
#define MPI_CONGRUENT 202
#define MPI_SIMILAR   203
#define MPI_UNEQUAL   204

#define MPI_COMM_TYPE_SHARED          221
#define MPI_COMM_TYPE_HW_UNGUIDED     222
#define MPI_COMM_TYPE_HW_GUIDED       223
#define MPI_COMM_TYPE_RESOURCE_GUIDED 224

#define MPI_MAX_OBJECT_NAME   128
#define MPI_MAX_STRINGTAG_LEN 1024

#define MPI_KEYVAL_INVALID  0
#define MPI_TAG_UB          501
#define MPI_IO              502
#define MPI_HOST            503
#define MPI_WTIME_IS_GLOBAL 504
#define MPI_APPNUM          505
#define MPI_LASTUSEDCODE    506
#define MPI_UNIVERSE_SIZE   507
/* Does the job go on when ranks are lost? Of process fault tolerance, which has no values in the ABI yet. */
#define MPI_FT              590

typedef int MPI_Comm_copy_attr_function(MPI_Comm oldcomm, int comm_keyval, void *extra_state, void *attribute_val_in,
    void *attribute_val_out, int *flag);
typedef int MPI_Comm_delete_attr_function(MPI_Comm comm, int comm_keyval, void *attribute_val, void *extra_state);
typedef int MPI_Win_copy_attr_function(MPI_Win oldwin, int win_keyval, void *extra_state, void *attribute_val_in,
    void *attribute_val_out, int *flag);
typedef int MPI_Win_delete_attr_function(MPI_Win win, int win_keyval, void *attribute_val, void *extra_state);
typedef int MPI_Type_copy_attr_function(MPI_Datatype oldtype, int type_keyval, void *extra_state,
    void *attribute_val_in, void *attribute_val_out, int *flag);
typedef int MPI_Type_delete_attr_function(MPI_Datatype datatype, int type_keyval, void *attribute_val,
    void *extra_state);

#define MPI_COMM_NULL_COPY_FN   ((MPI_Comm_copy_attr_function *)0)
#define MPI_COMM_DUP_FN         ((MPI_Comm_copy_attr_function *)1)
#define MPI_COMM_NULL_DELETE_FN ((MPI_Comm_delete_attr_function *)0)
#define MPI_WIN_NULL_COPY_FN    ((MPI_Win_copy_attr_function *)0)
#define MPI_WIN_DUP_FN          ((MPI_Win_copy_attr_function *)1)
#define MPI_WIN_NULL_DELETE_FN  ((MPI_Win_delete_attr_function *)0)
#define MPI_TYPE_NULL_COPY_FN   ((MPI_Type_copy_attr_function *)0)
#define MPI_TYPE_DUP_FN         ((MPI_Type_copy_attr_function *)1)
#define MPI_TYPE_NULL_DELETE_FN ((MPI_Type_delete_attr_function *)0)

BANYAN_DECLARE(int, MPI_Group_size, (MPI_Group group, int *size));
BANYAN_DECLARE(int, MPI_Group_rank, (MPI_Group group, int *rank));
BANYAN_DECLARE(int, MPI_Group_translate_ranks, (MPI_Group group1, int n, const int ranks1[], MPI_Group group2,
    int ranks2[]));
BANYAN_DECLARE(int, MPI_Group_compare, (MPI_Group group1, MPI_Group group2, int *result));
BANYAN_DECLARE(int, MPI_Comm_group, (MPI_Comm comm, MPI_Group *group));
BANYAN_DECLARE(int, MPI_Group_union, (MPI_Group group1, MPI_Group group2, MPI_Group *newgroup));
BANYAN_DECLARE(int, MPI_Group_intersection, (MPI_Group group1, MPI_Group group2, MPI_Group *newgroup));
BANYAN_DECLARE(int, MPI_Group_difference, (MPI_Group group1, MPI_Group group2, MPI_Group *newgroup));
BANYAN_DECLARE(int, MPI_Group_incl, (MPI_Group group, int n, const int ranks[], MPI_Group *newgroup));
BANYAN_DECLARE(int, MPI_Group_excl, (MPI_Group group, int n, const int ranks[], MPI_Group *newgroup));
BANYAN_DECLARE(int, MPI_Group_range_incl, (MPI_Group group, int n, int ranges[][3], MPI_Group *newgroup));
BANYAN_DECLARE(int, MPI_Group_range_excl, (MPI_Group group, int n, int ranges[][3], MPI_Group *newgroup));
BANYAN_DECLARE(int, MPI_Group_from_session_pset, (MPI_Session session, const char *pset_name, MPI_Group *newgroup));
BANYAN_DECLARE(int, MPI_Group_free, (MPI_Group *group));
BANYAN_DECLARE(int, MPI_Comm_size, (MPI_Comm comm, int *size));
BANYAN_DECLARE(int, MPI_Comm_rank, (MPI_Comm comm, int *rank));
BANYAN_DECLARE(int, MPI_Comm_compare, (MPI_Comm comm1, MPI_Comm comm2, int *result));
BANYAN_DECLARE(int, MPI_Comm_dup, (MPI_Comm comm, MPI_Comm *newcomm));
BANYAN_DECLARE(int, MPI_Comm_dup_with_info, (MPI_Comm comm, MPI_Info info, MPI_Comm *newcomm));
BANYAN_DECLARE(int, MPI_Comm_idup, (MPI_Comm comm, MPI_Comm *newcomm, MPI_Request *request));
BANYAN_DECLARE(int, MPI_Comm_idup_with_info, (MPI_Comm comm, MPI_Info info, MPI_Comm *newcomm, MPI_Request *request));
BANYAN_DECLARE(int, MPI_Comm_create, (MPI_Comm comm, MPI_Group group, MPI_Comm *newcomm));
BANYAN_DECLARE(int, MPI_Comm_create_group, (MPI_Comm comm, MPI_Group group, int tag, MPI_Comm *newcomm));
BANYAN_DECLARE(int, MPI_Comm_split, (MPI_Comm comm, int color, int key, MPI_Comm *newcomm));
BANYAN_DECLARE(int, MPI_Comm_split_type, (MPI_Comm comm, int split_type, int key, MPI_Info info, MPI_Comm *newcomm));
BANYAN_DECLARE(int, MPI_Comm_create_from_group, (MPI_Group group, const char *stringtag, MPI_Info info,
    MPI_Errhandler errhandler, MPI_Comm *newcomm));
BANYAN_DECLARE(int, MPI_Comm_free, (MPI_Comm *comm));
BANYAN_DECLARE(int, MPI_Comm_set_info, (MPI_Comm comm, MPI_Info info));
BANYAN_DECLARE(int, MPI_Comm_get_info, (MPI_Comm comm, MPI_Info *info_used));
BANYAN_DECLARE(int, MPI_Comm_test_inter, (MPI_Comm comm, int *flag));
BANYAN_DECLARE(int, MPI_Comm_remote_size, (MPI_Comm comm, int *size));
BANYAN_DECLARE(int, MPI_Comm_remote_group, (MPI_Comm comm, MPI_Group *group));
BANYAN_DECLARE(int, MPI_Intercomm_create, (MPI_Comm local_comm, int local_leader, MPI_Comm peer_comm, int remote_leader,
    int tag, MPI_Comm *newintercomm));
BANYAN_DECLARE(int, MPI_Intercomm_create_from_groups, (MPI_Group local_group, int local_leader, MPI_Group remote_group,
    int remote_leader, const char *stringtag, MPI_Info info, MPI_Errhandler errhandler, MPI_Comm *newintercomm));
BANYAN_DECLARE(int, MPI_Intercomm_merge, (MPI_Comm intercomm, int high, MPI_Comm *newintracomm));
BANYAN_DECLARE(int, MPI_Comm_create_keyval, (MPI_Comm_copy_attr_function *comm_copy_attr_fn,
    MPI_Comm_delete_attr_function *comm_delete_attr_fn, int *comm_keyval, void *extra_state));
BANYAN_DECLARE(int, MPI_Comm_free_keyval, (int *comm_keyval));
BANYAN_DECLARE(int, MPI_Comm_set_attr, (MPI_Comm comm, int comm_keyval, void *attribute_val));
BANYAN_DECLARE(int, MPI_Comm_get_attr, (MPI_Comm comm, int comm_keyval, void *attribute_val, int *flag));
BANYAN_DECLARE(int, MPI_Comm_delete_attr, (MPI_Comm comm, int comm_keyval));
BANYAN_DECLARE(int, MPI_Win_create_keyval, (MPI_Win_copy_attr_function *win_copy_attr_fn,
    MPI_Win_delete_attr_function *win_delete_attr_fn, int *win_keyval, void *extra_state));
BANYAN_DECLARE(int, MPI_Win_free_keyval, (int *win_keyval));
BANYAN_DECLARE(int, MPI_Win_set_attr, (MPI_Win win, int win_keyval, void *attribute_val));
BANYAN_DECLARE(int, MPI_Win_get_attr, (MPI_Win win, int win_keyval, void *attribute_val, int *flag));
BANYAN_DECLARE(int, MPI_Win_delete_attr, (MPI_Win win, int win_keyval));
BANYAN_DECLARE(int, MPI_Type_create_keyval, (MPI_Type_copy_attr_function *type_copy_attr_fn,
    MPI_Type_delete_attr_function *type_delete_attr_fn, int *type_keyval, void *extra_state));
BANYAN_DECLARE(int, MPI_Type_free_keyval, (int *type_keyval));
BANYAN_DECLARE(int, MPI_Type_set_attr, (MPI_Datatype datatype, int type_keyval, void *attribute_val));
BANYAN_DECLARE(int, MPI_Type_get_attr, (MPI_Datatype datatype, int type_keyval, void *attribute_val, int *flag));
BANYAN_DECLARE(int, MPI_Type_delete_attr, (MPI_Datatype datatype, int type_keyval));
BANYAN_DECLARE(int, MPI_Comm_set_name, (MPI_Comm comm, const char *comm_name));
BANYAN_DECLARE(int, MPI_Comm_get_name, (MPI_Comm comm, char *comm_name, int *resultlen));
BANYAN_DECLARE(int, MPI_Type_set_name, (MPI_Datatype datatype, const char *type_name));
BANYAN_DECLARE(int, MPI_Type_get_name, (MPI_Datatype datatype, char *type_name, int *resultlen));
BANYAN_DECLARE(int, MPI_Win_set_name, (MPI_Win win, const char *win_name));
BANYAN_DECLARE(int, MPI_Win_get_name, (MPI_Win win, char *win_name, int *resultlen));

/* 8. Virtual topologies. */

#define MPI_CART          211
#define MPI_GRAPH         212
#define MPI_DIST_GRAPH    213
#define MPI_UNWEIGHTED    ((int *)10)
#define MPI_WEIGHTS_EMPTY ((int *)11)

BANYAN_DECLARE(int, MPI_Cart_create, (MPI_Comm comm_old, int ndims, const int dims[], const int periods[], int reorder,
    MPI_Comm *comm_cart));
BANYAN_DECLARE(int, MPI_Dims_create, (int nnodes, int ndims, int dims[]));
BANYAN_DECLARE(int, MPI_Graph_create, (MPI_Comm comm_old, int nnodes, const int indx[], const int edges[], int reorder,
    MPI_Comm *comm_graph));
BANYAN_DECLARE(int, MPI_Dist_graph_create_adjacent, (MPI_Comm comm_old, int indegree, const int sources[],
    const int sourceweights[], int outdegree, const int destinations[], const int destweights[], MPI_Info info,
    int reorder, MPI_Comm *comm_dist_graph));
BANYAN_DECLARE(int, MPI_Dist_graph_create, (MPI_Comm comm_old, int n, const int sources[], const int degrees[],
    const int destinations[], const int weights[], MPI_Info info, int reorder, MPI_Comm *comm_dist_graph));
BANYAN_DECLARE(int, MPI_Topo_test, (MPI_Comm comm, int *status));
BANYAN_DECLARE(int, MPI_Graphdims_get, (MPI_Comm comm, int *nnodes, int *nedges));
BANYAN_DECLARE(int, MPI_Graph_get, (MPI_Comm comm, int maxindex, int maxedges, int indx[], int edges[]));
BANYAN_DECLARE(int, MPI_Cartdim_get, (MPI_Comm comm, int *ndims));
BANYAN_DECLARE(int, MPI_Cart_get, (MPI_Comm comm, int maxdims, int dims[], int periods[], int coords[]));
BANYAN_DECLARE(int, MPI_Cart_rank, (MPI_Comm comm, const int coords[], int *rank));
BANYAN_DECLARE(int, MPI_Cart_coords, (MPI_Comm comm, int rank, int maxdims, int coords[]));
BANYAN_DECLARE(int, MPI_Graph_neighbors_count, (MPI_Comm comm, int rank, int *nneighbors));
BANYAN_DECLARE(int, MPI_Graph_neighbors, (MPI_Comm comm, int rank, int maxneighbors, int neighbors[]));
BANYAN_DECLARE(int, MPI_Dist_graph_neighbors_count, (MPI_Comm comm, int *indegree, int *outdegree, int *weighted));
BANYAN_DECLARE(int, MPI_Dist_graph_neighbors, (MPI_Comm comm, int maxindegree, int sources[], int sourceweights[],
    int maxoutdegree, int destinations[], int destweights[]));
BANYAN_DECLARE(int, MPI_Cart_shift, (MPI_Comm comm, int direction, int disp, int *rank_source, int *rank_dest));
BANYAN_DECLARE(int, MPI_Cart_sub, (MPI_Comm comm, const int remain_dims[], MPI_Comm *newcomm));
BANYAN_DECLARE(int, MPI_Cart_map, (MPI_Comm comm, int ndims, const int dims[], const int periods[], int *newrank));
BANYAN_DECLARE(int, MPI_Graph_map, (MPI_Comm comm, int nnodes, const int indx[], const int edges[], int *newrank));
BANYAN_DECLARE(int, MPI_Neighbor_allgather, (const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf,
    int recvcount, MPI_Datatype recvtype, MPI_Comm comm));
BANYAN_DECLARE(int, MPI_Neighbor_allgather_c, (const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype,
    void *recvbuf, MPI_Count recvcount, MPI_Datatype recvtype, MPI_Comm comm));
BANYAN_DECLARE(int, MPI_Ineighbor_allgather, (const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf,
    int recvcount, MPI_Datatype recvtype, MPI_Comm comm, MPI_Request *request));
BANYAN_DECLARE(int, MPI_Ineighbor_allgather_c, (const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype,
    void *recvbuf, MPI_Count recvcount, MPI_Datatype recvtype, MPI_Comm comm, MPI_Request *request));
BANYAN_DECLARE(int, MPI_Neighbor_allgather_init, (const void *sendbuf, int sendcount, MPI_Datatype sendtype,
    void *recvbuf, int recvcount, MPI_Datatype recvtype, MPI_Comm comm, MPI_Info info, MPI_Request *request));
BANYAN_DECLARE(int, MPI_Neighbor_allgather_init_c, (const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype,
    void *recvbuf, MPI_Count recvcount, MPI_Datatype recvtype, MPI_Comm comm, MPI_Info info, MPI_Request *request));
BANYAN_DECLARE(int, MPI_Neighbor_allgatherv, (const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf,
    const int recvcounts[], const int displs[], MPI_Datatype recvtype, MPI_Comm comm));
BANYAN_DECLARE(int, MPI_Neighbor_allgatherv_c, (const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype,
    void *recvbuf, const MPI_Count recvcounts[], const MPI_Aint displs[], MPI_Datatype recvtype, MPI_Comm comm));
BANYAN_DECLARE(int, MPI_Ineighbor_allgatherv, (const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf,
    const int recvcounts[], const int displs[], MPI_Datatype recvtype, MPI_Comm comm, MPI_Request *request));
BANYAN_DECLARE(int, MPI_Ineighbor_allgatherv_c, (const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype,
    void *recvbuf, const MPI_Count recvcounts[], const MPI_Aint displs[], MPI_Datatype recvtype, MPI_Comm comm,
    MPI_Request *request));
BANYAN_DECLARE(int, MPI_Neighbor_allgatherv_init, (const void *sendbuf, int sendcount, MPI_Datatype sendtype,
    void *recvbuf, const int recvcounts[], const int displs[], MPI_Datatype recvtype, MPI_Comm comm, MPI_Info info,
    MPI_Request *request));
BANYAN_DECLARE(int, MPI_Neighbor_allgatherv_init_c, (const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype,
    void *recvbuf, const MPI_Count recvcounts[], const MPI_Aint displs[], MPI_Datatype recvtype, MPI_Comm comm,
    MPI_Info info, MPI_Request *request));
BANYAN_DECLARE(int, MPI_Neighbor_alltoall, (const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf,
    int recvcount, MPI_Datatype recvtype, MPI_Comm comm));
BANYAN_DECLARE(int, MPI_Neighbor_alltoall_c, (const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype,
    void *recvbuf, MPI_Count recvcount, MPI_Datatype recvtype, MPI_Comm comm));
BANYAN_DECLARE(int, MPI_Ineighbor_alltoall, (const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf,
    int recvcount, MPI_Datatype recvtype, MPI_Comm comm, MPI_Request *request));
BANYAN_DECLARE(int, MPI_Ineighbor_alltoall_c, (const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype,
    void *recvbuf, MPI_Count recvcount, MPI_Datatype recvtype, MPI_Comm comm, MPI_Request *request));
BANYAN_DECLARE(int, MPI_Neighbor_alltoall_init, (const void *sendbuf, int sendcount, MPI_Datatype sendtype,
    void *recvbuf, int recvcount, MPI_Datatype recvtype, MPI_Comm comm, MPI_Info info, MPI_Request *request));
BANYAN_DECLARE(int, MPI_Neighbor_alltoall_init_c, (const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype,
    void *recvbuf, MPI_Count recvcount, MPI_Datatype recvtype, MPI_Comm comm, MPI_Info info, MPI_Request *request));
BANYAN_DECLARE(int, MPI_Neighbor_alltoallv, (const void *sendbuf, const int sendcounts[], const int sdispls[],
    MPI_Datatype sendtype, void *recvbuf, const int recvcounts[], const int rdispls[], MPI_Datatype recvtype,
    MPI_Comm comm));
BANYAN_DECLARE(int, MPI_Neighbor_alltoallv_c, (const void *sendbuf, const MPI_Count sendcounts[],
    const MPI_Aint sdispls[], MPI_Datatype sendtype, void *recvbuf, const MPI_Count recvcounts[],
    const MPI_Aint rdispls[], MPI_Datatype recvtype, MPI_Comm comm));
BANYAN_DECLARE(int, MPI_Ineighbor_alltoallv, (const void *sendbuf, const int sendcounts[], const int sdispls[],
    MPI_Datatype sendtype, void *recvbuf, const int recvcounts[], const int rdispls[], MPI_Datatype recvtype,
    MPI_Comm comm, MPI_Request *request));
BANYAN_DECLARE(int, MPI_Ineighbor_alltoallv_c, (const void *sendbuf, const MPI_Count sendcounts[],
    const MPI_Aint sdispls[], MPI_Datatype sendtype, void *recvbuf, const MPI_Count recvcounts[],
    const MPI_Aint rdispls[], MPI_Datatype recvtype, MPI_Comm comm, MPI_Request *request));
BANYAN_DECLARE(int, MPI_Neighbor_alltoallv_init, (const void *sendbuf, const int sendcounts[], const int sdispls[],
    MPI_Datatype sendtype, void *recvbuf, const int recvcounts[], const int rdispls[], MPI_Datatype recvtype,
    MPI_Comm comm, MPI_Info info, MPI_Request *request));
BANYAN_DECLARE(int, MPI_Neighbor_alltoallv_init_c, (const void *sendbuf, const MPI_Count sendcounts[],
    const MPI_Aint sdispls[], MPI_Datatype sendtype, void *recvbuf, const MPI_Count recvcounts[],
    const MPI_Aint rdispls[], MPI_Datatype recvtype, MPI_Comm comm, MPI_Info info, MPI_Request *request));
BANYAN_DECLARE(int, MPI_Neighbor_alltoallw, (const void *sendbuf, const int sendcounts[], const MPI_Aint sdispls[],
    const MPI_Datatype sendtypes[], void *recvbuf, const int recvcounts[], const MPI_Aint rdispls[],
    const MPI_Datatype recvtypes[], MPI_Comm comm));
BANYAN_DECLARE(int, MPI_Neighbor_alltoallw_c, (const void *sendbuf, const MPI_Count sendcounts[],
    const MPI_Aint sdispls[], const MPI_Datatype sendtypes[], void *recvbuf, const MPI_Count recvcounts[],
    const MPI_Aint rdispls[], const MPI_Datatype recvtypes[], MPI_Comm comm));
BANYAN_DECLARE(int, MPI_Ineighbor_alltoallw, (const void *sendbuf, const int sendcounts[], const MPI_Aint sdispls[],
    const MPI_Datatype sendtypes[], void *recvbuf, const int recvcounts[], const MPI_Aint rdispls[],
    const MPI_Datatype recvtypes[], MPI_Comm comm, MPI_Request *request));
BANYAN_DECLARE(int, MPI_Ineighbor_alltoallw_c, (const void *sendbuf, const MPI_Count sendcounts[],
    const MPI_Aint sdispls[], const MPI_Datatype sendtypes[], void *recvbuf, const MPI_Count recvcounts[],
    const MPI_Aint rdispls[], const MPI_Datatype recvtypes[], MPI_Comm comm, MPI_Request *request));
BANYAN_DECLARE(int, MPI_Neighbor_alltoallw_init, (const void *sendbuf, const int sendcounts[], const MPI_Aint sdispls[],
    const MPI_Datatype sendtypes[], void *recvbuf, const int recvcounts[], const MPI_Aint rdispls[],
    const MPI_Datatype recvtypes[], MPI_Comm comm, MPI_Info info, MPI_Request *request));
BANYAN_DECLARE(int, MPI_Neighbor_alltoallw_init_c, (const void *sendbuf, const MPI_Count sendcounts[],
    const MPI_Aint sdispls[], const MPI_Datatype sendtypes[], void *recvbuf, const MPI_Count recvcounts[],
    const MPI_Aint rdispls[], const MPI_Datatype recvtypes[], MPI_Comm comm, MPI_Info info, MPI_Request *request));

/* 9. Environmental management. */

#define MPI_MAX_PROCESSOR_NAME         256
#define MPI_MAX_LIBRARY_VERSION_STRING 8192
#define MPI_MAX_ERROR_STRING           512

#define MPI_ERRHANDLER_NULL  ((MPI_Errhandler)0x140)
#define MPI_ERRORS_ARE_FATAL ((MPI_Errhandler)0x141)
#define MPI_ERRORS_ABORT     ((MPI_Errhandler)0x142)
#define MPI_ERRORS_RETURN    ((MPI_Errhandler)0x143)

#define MPI_SUCCESS                   0
#define MPI_ERR_BUFFER                1
#define MPI_ERR_COUNT                 2
#define MPI_ERR_TYPE                  3
#define MPI_ERR_TAG                   4
#define MPI_ERR_COMM                  5
#define MPI_ERR_RANK                  6
#define MPI_ERR_REQUEST               7
#define MPI_ERR_ROOT                  8
#define MPI_ERR_GROUP                 9
#define MPI_ERR_OP                    10
#define MPI_ERR_TOPOLOGY              11
#define MPI_ERR_DIMS                  12
#define MPI_ERR_ARG                   13
#define MPI_ERR_UNKNOWN               14
#define MPI_ERR_TRUNCATE              15
#define MPI_ERR_OTHER                 16
#define MPI_ERR_INTERN                17
#define MPI_ERR_PENDING               18
#define MPI_ERR_IN_STATUS             19
#define MPI_ERR_ACCESS                20
#define MPI_ERR_AMODE                 21
#define MPI_ERR_ASSERT                22
#define MPI_ERR_BAD_FILE              23
#define MPI_ERR_BASE                  24
#define MPI_ERR_CONVERSION            25
#define MPI_ERR_DISP                  26
#define MPI_ERR_DUP_DATAREP           27
#define MPI_ERR_FILE_EXISTS           28
#define MPI_ERR_FILE_IN_USE           29
#define MPI_ERR_FILE                  30
#define MPI_ERR_INFO_KEY              31
#define MPI_ERR_INFO_NOKEY            32
#define MPI_ERR_INFO_VALUE            33
#define MPI_ERR_INFO                  34
#define MPI_ERR_IO                    35
#define MPI_ERR_KEYVAL                36
#define MPI_ERR_LOCKTYPE              37
#define MPI_ERR_NAME                  38
#define MPI_ERR_NO_MEM                39
#define MPI_ERR_NOT_SAME              40
#define MPI_ERR_NO_SPACE              41
#define MPI_ERR_NO_SUCH_FILE          42
#define MPI_ERR_PORT                  43
#define MPI_ERR_QUOTA                 44
#define MPI_ERR_READ_ONLY             45
#define MPI_ERR_RMA_ATTACH            46
#define MPI_ERR_RMA_CONFLICT          47
#define MPI_ERR_RMA_RANGE             48
#define MPI_ERR_RMA_SHARED            49
#define MPI_ERR_RMA_SYNC              50
#define MPI_ERR_SERVICE               51
#define MPI_ERR_SIZE                  52
#define MPI_ERR_SPAWN                 53
#define MPI_ERR_UNSUPPORTED_DATAREP   54
#define MPI_ERR_UNSUPPORTED_OPERATION 55
#define MPI_ERR_WIN                   56
#define MPI_ERR_RMA_FLAVOR            57
#define MPI_ERR_PROC_ABORTED          58
#define MPI_ERR_VALUE_TOO_LARGE       59
#define MPI_ERR_SESSION               60
#define MPI_ERR_ERRHANDLER            61
#define MPI_ERR_ABI                   62
/* Of process fault tolerance, which has no values in the ABI yet. */
#define MPI_ERR_PROC_FAILED           75
#define MPI_ERR_PROC_FAILED_PENDING   76
#define MPI_ERR_REVOKED               77
#define MPI_ERR_LASTCODE              16383

typedef void MPI_Comm_errhandler_function(MPI_Comm *comm, int *error_code, ...);
typedef void MPI_Win_errhandler_function(MPI_Win *win, int *error_code, ...);
typedef void MPI_File_errhandler_function(MPI_File *file, int *error_code, ...);
typedef void MPI_Session_errhandler_function(MPI_Session *session, int *error_code, ...);

BANYAN_DECLARE(int, MPI_Get_version, (int *version, int *subversion));
BANYAN_DECLARE(int, MPI_Get_library_version, (char *version, int *resultlen));
BANYAN_DECLARE(int, MPI_Get_processor_name, (char *name, int *resultlen));
BANYAN_DECLARE(int, MPI_Get_hw_resource_info, (MPI_Info *hw_info));
BANYAN_DECLARE(int, MPI_Alloc_mem, (MPI_Aint size, MPI_Info info, void *baseptr));
BANYAN_DECLARE(int, MPI_Free_mem, (void *base));
BANYAN_DECLARE(int, MPI_Comm_create_errhandler, (MPI_Comm_errhandler_function *comm_errhandler_fn,
    MPI_Errhandler *errhandler));
BANYAN_DECLARE(int, MPI_Comm_set_errhandler, (MPI_Comm comm, MPI_Errhandler errhandler));
BANYAN_DECLARE(int, MPI_Comm_get_errhandler, (MPI_Comm comm, MPI_Errhandler *errhandler));
BANYAN_DECLARE(int, MPI_Win_create_errhandler, (MPI_Win_errhandler_function *win_errhandler_fn,
    MPI_Errhandler *errhandler));
BANYAN_DECLARE(int, MPI_Win_set_errhandler, (MPI_Win win, MPI_Errhandler errhandler));
BANYAN_DECLARE(int, MPI_Win_get_errhandler, (MPI_Win win, MPI_Errhandler *errhandler));
BANYAN_DECLARE(int, MPI_File_create_errhandler, (MPI_File_errhandler_function *file_errhandler_fn,
    MPI_Errhandler *errhandler));
BANYAN_DECLARE(int, MPI_File_set_errhandler, (MPI_File file, MPI_Errhandler errhandler));
BANYAN_DECLARE(int, MPI_File_get_errhandler, (MPI_File file, MPI_Errhandler *errhandler));
BANYAN_DECLARE(int, MPI_Session_create_errhandler, (MPI_Session_errhandler_function *session_errhandler_fn,
    MPI_Errhandler *errhandler));
BANYAN_DECLARE(int, MPI_Session_set_errhandler, (MPI_Session session, MPI_Errhandler errhandler));
BANYAN_DECLARE(int, MPI_Session_get_errhandler, (MPI_Session session, MPI_Errhandler *errhandler));
BANYAN_DECLARE(int, MPI_Errhandler_free, (MPI_Errhandler *errhandler));
BANYAN_DECLARE(int, MPI_Error_string, (int errorcode, char *string, int *resultlen));
BANYAN_DECLARE(int, MPI_Error_class, (int errorcode, int *errorclass));
BANYAN_DECLARE(int, MPI_Add_error_class, (int *errorclass));
BANYAN_DECLARE(int, MPI_Remove_error_class, (int errorclass));
BANYAN_DECLARE(int, MPI_Add_error_code, (int errorclass, int *errorcode));
BANYAN_DECLARE(int, MPI_Remove_error_code, (int errorcode));
BANYAN_DECLARE(int, MPI_Add_error_string, (int errorcode, const char *string));
BANYAN_DECLARE(int, MPI_Remove_error_string, (int errorcode));
BANYAN_DECLARE(int, MPI_Comm_call_errhandler, (MPI_Comm comm, int errorcode));
BANYAN_DECLARE(int, MPI_Win_call_errhandler, (MPI_Win win, int errorcode));
BANYAN_DECLARE(int, MPI_File_call_errhandler, (MPI_File fh, int errorcode));
BANYAN_DECLARE(int, MPI_Session_call_errhandler, (MPI_Session session, int errorcode));
BANYAN_DECLARE(double, MPI_Wtime, (void));
BANYAN_DECLARE(double, MPI_Wtick, (void));

/* 10. The info object. */

#define MPI_INFO_NULL    ((MPI_Info)0x130)
#define MPI_INFO_ENV     ((MPI_Info)0x131)
#define MPI_MAX_INFO_KEY 256
#define MPI_MAX_INFO_VAL 1024

BANYAN_DECLARE(int, MPI_Info_create, (MPI_Info *info));
BANYAN_DECLARE(int, MPI_Info_create_env, (int argc, char *argv[], MPI_Info *info));
BANYAN_DECLARE(int, MPI_Info_set, (MPI_Info info, const char *key, const char *value));
BANYAN_DECLARE(int, MPI_Info_delete, (MPI_Info info, const char *key));
BANYAN_DECLARE(int, MPI_Info_get_string, (MPI_Info info, const char *key, int *buflen, char *value, int *flag));
BANYAN_DECLARE(int, MPI_Info_get_nkeys, (MPI_Info info, int *nkeys));
BANYAN_DECLARE(int, MPI_Info_get_nthkey, (MPI_Info info, int n, char *key));
BANYAN_DECLARE(int, MPI_Info_dup, (MPI_Info info, MPI_Info *newinfo));
BANYAN_DECLARE(int, MPI_Info_free, (MPI_Info *info));

/* 11. Process initialisation, creation and management. */

#define MPI_THREAD_SINGLE     0
#define MPI_THREAD_FUNNELED   1024
#define MPI_THREAD_SERIALIZED 2048
#define MPI_THREAD_MULTIPLE   4096

#define MPI_SESSION_NULL      ((MPI_Session)0x120)
#define MPI_MAX_PSET_NAME_LEN 1024
#define MPI_MAX_PORT_NAME     1024
#define MPI_ARGV_NULL         ((char **)0)
#define MPI_ARGVS_NULL        ((char ***)0)
#define MPI_ERRCODES_IGNORE   ((int *)0)

BANYAN_DECLARE(int, MPI_Init, (int *argc, char ***argv));
BANYAN_DECLARE(int, MPI_Init_thread, (int *argc, char ***argv, int required, int *provided));
BANYAN_DECLARE(int, MPI_Initialized, (int *flag));
BANYAN_DECLARE(int, MPI_Finalize, (void));
BANYAN_DECLARE(int, MPI_Finalized, (int *flag));
BANYAN_DECLARE(int, MPI_Query_thread, (int *provided));
BANYAN_DECLARE(int, MPI_Is_thread_main, (int *flag));
BANYAN_DECLARE(int, MPI_Abort, (MPI_Comm comm, int errorcode));
BANYAN_DECLARE(int, MPI_Session_init, (MPI_Info info, MPI_Errhandler errhandler, MPI_Session *session));
BANYAN_DECLARE(int, MPI_Session_finalize, (MPI_Session *session));
BANYAN_DECLARE(int, MPI_Session_get_num_psets, (MPI_Session session, MPI_Info info, int *npset_names));
BANYAN_DECLARE(int, MPI_Session_get_nth_pset, (MPI_Session session, MPI_Info info, int n, int *pset_len,
    char *pset_name));
BANYAN_DECLARE(int, MPI_Session_get_info, (MPI_Session session, MPI_Info *info_used));
BANYAN_DECLARE(int, MPI_Session_get_pset_info, (MPI_Session session, const char *pset_name, MPI_Info *info));
BANYAN_DECLARE(int, MPI_Comm_spawn, (const char *command, char *argv[], int maxprocs, MPI_Info info, int root,
    MPI_Comm comm, MPI_Comm *intercomm, int array_of_errcodes[]));
BANYAN_DECLARE(int, MPI_Comm_spawn_multiple, (int count, char *array_of_commands[], char **array_of_argv[],
    const int array_of_maxprocs[], const MPI_Info array_of_info[], int root, MPI_Comm comm, MPI_Comm *intercomm,
    int array_of_errcodes[]));
BANYAN_DECLARE(int, MPI_Comm_get_parent, (MPI_Comm *parent));
BANYAN_DECLARE(int, MPI_Open_port, (MPI_Info info, char *port_name));
BANYAN_DECLARE(int, MPI_Close_port, (const char *port_name));
BANYAN_DECLARE(int, MPI_Comm_accept, (const char *port_name, MPI_Info info, int root, MPI_Comm comm,
    MPI_Comm *newcomm));
BANYAN_DECLARE(int, MPI_Comm_connect, (const char *port_name, MPI_Info info, int root, MPI_Comm comm,
    MPI_Comm *newcomm));
BANYAN_DECLARE(int, MPI_Publish_name, (const char *service_name, MPI_Info info, const char *port_name));
BANYAN_DECLARE(int, MPI_Unpublish_name, (const char *service_name, MPI_Info info, const char *port_name));
BANYAN_DECLARE(int, MPI_Lookup_name, (const char *service_name, MPI_Info info, char *port_name));
BANYAN_DECLARE(int, MPI_Comm_disconnect, (MPI_Comm *comm));
BANYAN_DECLARE(int, MPI_Comm_join, (int fd, MPI_Comm *intercomm));

/* 12. One-sided communication. */

#define MPI_WIN_NULL ((MPI_Win)0x110)

#define MPI_LOCK_EXCLUSIVE      301
#define MPI_LOCK_SHARED         302
#define MPI_WIN_FLAVOR_CREATE   311
#define MPI_WIN_FLAVOR_ALLOCATE 312
#define MPI_WIN_FLAVOR_DYNAMIC  313
#define MPI_WIN_FLAVOR_SHARED   314
#define MPI_WIN_UNIFIED         321
#define MPI_WIN_SEPARATE        322
#define MPI_WIN_BASE            601
#define MPI_WIN_DISP_UNIT       602
#define MPI_WIN_SIZE            603
#define MPI_WIN_CREATE_FLAVOR   604
#define MPI_WIN_MODEL           605

#define MPI_MODE_NOCHECK   1024
#define MPI_MODE_NOPRECEDE 2048
#define MPI_MODE_NOPUT     4096
#define MPI_MODE_NOSTORE   8192
#define MPI_MODE_NOSUCCEED 16384

BANYAN_DECLARE(int, MPI_Win_create, (void *base, MPI_Aint size, int disp_unit, MPI_Info info, MPI_Comm comm,
    MPI_Win *win));
BANYAN_DECLARE(int, MPI_Win_create_c, (void *base, MPI_Aint size, MPI_Aint disp_unit, MPI_Info info, MPI_Comm comm,
    MPI_Win *win));
BANYAN_DECLARE(int, MPI_Win_allocate, (MPI_Aint size, int disp_unit, MPI_Info info, MPI_Comm comm, void *baseptr,
    MPI_Win *win));
BANYAN_DECLARE(int, MPI_Win_allocate_c, (MPI_Aint size, MPI_Aint disp_unit, MPI_Info info, MPI_Comm comm, void *baseptr,
    MPI_Win *win));
BANYAN_DECLARE(int, MPI_Win_allocate_shared, (MPI_Aint size, int disp_unit, MPI_Info info, MPI_Comm comm, void *baseptr,
    MPI_Win *win));
BANYAN_DECLARE(int, MPI_Win_allocate_shared_c, (MPI_Aint size, MPI_Aint disp_unit, MPI_Info info, MPI_Comm comm,
    void *baseptr, MPI_Win *win));
BANYAN_DECLARE(int, MPI_Win_shared_query, (MPI_Win win, int rank, MPI_Aint *size, int *disp_unit, void *baseptr));
BANYAN_DECLARE(int, MPI_Win_shared_query_c, (MPI_Win win, int rank, MPI_Aint *size, MPI_Aint *disp_unit,
    void *baseptr));
BANYAN_DECLARE(int, MPI_Win_create_dynamic, (MPI_Info info, MPI_Comm comm, MPI_Win *win));
BANYAN_DECLARE(int, MPI_Win_attach, (MPI_Win win, void *base, MPI_Aint size));
BANYAN_DECLARE(int, MPI_Win_detach, (MPI_Win win, const void *base));
BANYAN_DECLARE(int, MPI_Win_free, (MPI_Win *win));
BANYAN_DECLARE(int, MPI_Win_get_group, (MPI_Win win, MPI_Group *group));
BANYAN_DECLARE(int, MPI_Win_set_info, (MPI_Win win, MPI_Info info));
BANYAN_DECLARE(int, MPI_Win_get_info, (MPI_Win win, MPI_Info *info_used));
BANYAN_DECLARE(int, MPI_Put, (const void *origin_addr, int origin_count, MPI_Datatype origin_datatype, int target_rank,
    MPI_Aint target_disp, int target_count, MPI_Datatype target_datatype, MPI_Win win));
BANYAN_DECLARE(int, MPI_Put_c, (const void *origin_addr, MPI_Count origin_count, MPI_Datatype origin_datatype,
    int target_rank, MPI_Aint target_disp, MPI_Count target_count, MPI_Datatype target_datatype, MPI_Win win));
BANYAN_DECLARE(int, MPI_Get, (void *origin_addr, int origin_count, MPI_Datatype origin_datatype, int target_rank,
    MPI_Aint target_disp, int target_count, MPI_Datatype target_datatype, MPI_Win win));
BANYAN_DECLARE(int, MPI_Get_c, (void *origin_addr, MPI_Count origin_count, MPI_Datatype origin_datatype,
    int target_rank, MPI_Aint target_disp, MPI_Count target_count, MPI_Datatype target_datatype, MPI_Win win));
BANYAN_DECLARE(int, MPI_Accumulate, (const void *origin_addr, int origin_count, MPI_Datatype origin_datatype,
    int target_rank, MPI_Aint target_disp, int target_count, MPI_Datatype target_datatype, MPI_Op op, MPI_Win win));
BANYAN_DECLARE(int, MPI_Accumulate_c, (const void *origin_addr, MPI_Count origin_count, MPI_Datatype origin_datatype,
    int target_rank, MPI_Aint target_disp, MPI_Count target_count, MPI_Datatype target_datatype, MPI_Op op,
    MPI_Win win));
BANYAN_DECLARE(int, MPI_Get_accumulate, (const void *origin_addr, int origin_count, MPI_Datatype origin_datatype,
    void *result_addr, int result_count, MPI_Datatype result_datatype, int target_rank, MPI_Aint target_disp,
    int target_count, MPI_Datatype target_datatype, MPI_Op op, MPI_Win win));
BANYAN_DECLARE(int, MPI_Get_accumulate_c, (const void *origin_addr, MPI_Count origin_count,
    MPI_Datatype origin_datatype, void *result_addr, MPI_Count result_count, MPI_Datatype result_datatype,
    int target_rank, MPI_Aint target_disp, MPI_Count target_count, MPI_Datatype target_datatype, MPI_Op op,
    MPI_Win win));
BANYAN_DECLARE(int, MPI_Fetch_and_op, (const void *origin_addr, void *result_addr, MPI_Datatype datatype,
    int target_rank, MPI_Aint target_disp, MPI_Op op, MPI_Win win));
BANYAN_DECLARE(int, MPI_Compare_and_swap, (const void *origin_addr, const void *compare_addr, void *result_addr,
    MPI_Datatype datatype, int target_rank, MPI_Aint target_disp, MPI_Win win));
BANYAN_DECLARE(int, MPI_Rput, (const void *origin_addr, int origin_count, MPI_Datatype origin_datatype, int target_rank,
    MPI_Aint target_disp, int target_count, MPI_Datatype target_datatype, MPI_Win win, MPI_Request *request));
BANYAN_DECLARE(int, MPI_Rput_c, (const void *origin_addr, MPI_Count origin_count, MPI_Datatype origin_datatype,
    int target_rank, MPI_Aint target_disp, MPI_Count target_count, MPI_Datatype target_datatype, MPI_Win win,
    MPI_Request *request));
BANYAN_DECLARE(int, MPI_Rget, (void *origin_addr, int origin_count, MPI_Datatype origin_datatype, int target_rank,
    MPI_Aint target_disp, int target_count, MPI_Datatype target_datatype, MPI_Win win, MPI_Request *request));
BANYAN_DECLARE(int, MPI_Rget_c, (void *origin_addr, MPI_Count origin_count, MPI_Datatype origin_datatype,
    int target_rank, MPI_Aint target_disp, MPI_Count target_count, MPI_Datatype target_datatype, MPI_Win win,
    MPI_Request *request));
BANYAN_DECLARE(int, MPI_Raccumulate, (const void *origin_addr, int origin_count, MPI_Datatype origin_datatype,
    int target_rank, MPI_Aint target_disp, int target_count, MPI_Datatype target_datatype, MPI_Op op, MPI_Win win,
    MPI_Request *request));
BANYAN_DECLARE(int, MPI_Raccumulate_c, (const void *origin_addr, MPI_Count origin_count, MPI_Datatype origin_datatype,
    int target_rank, MPI_Aint target_disp, MPI_Count target_count, MPI_Datatype target_datatype, MPI_Op op, MPI_Win win,
    MPI_Request *request));
BANYAN_DECLARE(int, MPI_Rget_accumulate, (const void *origin_addr, int origin_count, MPI_Datatype origin_datatype,
    void *result_addr, int result_count, MPI_Datatype result_datatype, int target_rank, MPI_Aint target_disp,
    int target_count, MPI_Datatype target_datatype, MPI_Op op, MPI_Win win, MPI_Request *request));
BANYAN_DECLARE(int, MPI_Rget_accumulate_c, (const void *origin_addr, MPI_Count origin_count,
    MPI_Datatype origin_datatype, void *result_addr, MPI_Count result_count, MPI_Datatype result_datatype,
    int target_rank, MPI_Aint target_disp, MPI_Count target_count, MPI_Datatype target_datatype, MPI_Op op, MPI_Win win,
    MPI_Request *request));
BANYAN_DECLARE(int, MPI_Win_fence, (int assert, MPI_Win win));
BANYAN_DECLARE(int, MPI_Win_start, (MPI_Group group, int assert, MPI_Win win));
BANYAN_DECLARE(int, MPI_Win_complete, (MPI_Win win));
BANYAN_DECLARE(int, MPI_Win_post, (MPI_Group group, int assert, MPI_Win win));
BANYAN_DECLARE(int, MPI_Win_wait, (MPI_Win win));
BANYAN_DECLARE(int, MPI_Win_test, (MPI_Win win, int *flag));
BANYAN_DECLARE(int, MPI_Win_lock, (int lock_type, int rank, int assert, MPI_Win win));
BANYAN_DECLARE(int, MPI_Win_lock_all, (int assert, MPI_Win win));
BANYAN_DECLARE(int, MPI_Win_unlock, (int rank, MPI_Win win));
BANYAN_DECLARE(int, MPI_Win_unlock_all, (MPI_Win win));
BANYAN_DECLARE(int, MPI_Win_flush, (int rank, MPI_Win win));
BANYAN_DECLARE(int, MPI_Win_flush_all, (MPI_Win win));
BANYAN_DECLARE(int, MPI_Win_flush_local, (int rank, MPI_Win win));
BANYAN_DECLARE(int, MPI_Win_flush_local_all, (MPI_Win win));
BANYAN_DECLARE(int, MPI_Win_sync, (MPI_Win win));

/* 13. External interfaces. */

typedef int MPI_Grequest_query_function(void *extra_state, MPI_Status *status);
typedef int MPI_Grequest_free_function(void *extra_state);
typedef int MPI_Grequest_cancel_function(void *extra_state, int complete);

BANYAN_DECLARE(int, MPI_Grequest_start, (MPI_Grequest_query_function *query_fn, MPI_Grequest_free_function *free_fn,
    MPI_Grequest_cancel_function *cancel_fn, void *extra_state, MPI_Request *request));
BANYAN_DECLARE(int, MPI_Grequest_complete, (MPI_Request request));
BANYAN_DECLARE(int, MPI_Status_set_elements, (MPI_Status *status, MPI_Datatype datatype, int count));
BANYAN_DECLARE(int, MPI_Status_set_elements_c, (MPI_Status *status, MPI_Datatype datatype, MPI_Count count));
BANYAN_DECLARE(int, MPI_Status_set_cancelled, (MPI_Status *status, int flag));
BANYAN_DECLARE(int, MPI_Status_set_source, (MPI_Status *status, int source));
BANYAN_DECLARE(int, MPI_Status_set_tag, (MPI_Status *status, int tag));
BANYAN_DECLARE(int, MPI_Status_set_error, (MPI_Status *status, int err));

/* 14. I/O. */

#define MPI_FILE_NULL ((MPI_File)0x118)

#define MPI_MODE_APPEND          1
#define MPI_MODE_CREATE          2
#define MPI_MODE_DELETE_ON_CLOSE 4
#define MPI_MODE_EXCL            8
#define MPI_MODE_RDONLY          16
#define MPI_MODE_RDWR            32
#define MPI_MODE_SEQUENTIAL      64
#define MPI_MODE_UNIQUE_OPEN     128
#define MPI_MODE_WRONLY          256

#define MPI_SEEK_CUR             401
#define MPI_SEEK_END             402
#define MPI_SEEK_SET             403
#define MPI_DISPLACEMENT_CURRENT ((MPI_Offset)-1)
#define MPI_MAX_DATAREP_STRING   128

typedef int MPI_Datarep_extent_function(MPI_Datatype datatype, MPI_Aint *extent, void *extra_state);
typedef int MPI_Datarep_conversion_function(void *userbuf, MPI_Datatype datatype, int count, void *filebuf,
    MPI_Offset position, void *extra_state);
typedef int MPI_Datarep_conversion_function_c(void *userbuf, MPI_Datatype datatype, MPI_Count count, void *filebuf,
    MPI_Offset position, void *extra_state);
#define MPI_CONVERSION_FN_NULL   ((MPI_Datarep_conversion_function *)0)
#define MPI_CONVERSION_FN_NULL_C ((MPI_Datarep_conversion_function_c *)0)

BANYAN_DECLARE(int, MPI_File_open, (MPI_Comm comm, const char *filename, int amode, MPI_Info info, MPI_File *fh));
BANYAN_DECLARE(int, MPI_File_close, (MPI_File *fh));
BANYAN_DECLARE(int, MPI_File_delete, (const char *filename, MPI_Info info));
BANYAN_DECLARE(int, MPI_File_set_size, (MPI_File fh, MPI_Offset size));
BANYAN_DECLARE(int, MPI_File_preallocate, (MPI_File fh, MPI_Offset size));
BANYAN_DECLARE(int, MPI_File_get_size, (MPI_File fh, MPI_Offset *size));
BANYAN_DECLARE(int, MPI_File_get_group, (MPI_File fh, MPI_Group *group));
BANYAN_DECLARE(int, MPI_File_get_amode, (MPI_File fh, int *amode));
BANYAN_DECLARE(int, MPI_File_set_info, (MPI_File fh, MPI_Info info));
BANYAN_DECLARE(int, MPI_File_get_info, (MPI_File fh, MPI_Info *info_used));
BANYAN_DECLARE(int, MPI_File_set_view, (MPI_File fh, MPI_Offset disp, MPI_Datatype etype, MPI_Datatype filetype,
    const char *datarep, MPI_Info info));
BANYAN_DECLARE(int, MPI_File_get_view, (MPI_File fh, MPI_Offset *disp, MPI_Datatype *etype, MPI_Datatype *filetype,
    char *datarep));
BANYAN_DECLARE(int, MPI_File_read_at, (MPI_File fh, MPI_Offset offset, void *buf, int count, MPI_Datatype datatype,
    MPI_Status *status));
BANYAN_DECLARE(int, MPI_File_read_at_c, (MPI_File fh, MPI_Offset offset, void *buf, MPI_Count count,
    MPI_Datatype datatype, MPI_Status *status));
BANYAN_DECLARE(int, MPI_File_read_at_all, (MPI_File fh, MPI_Offset offset, void *buf, int count, MPI_Datatype datatype,
    MPI_Status *status));
BANYAN_DECLARE(int, MPI_File_read_at_all_c, (MPI_File fh, MPI_Offset offset, void *buf, MPI_Count count,
    MPI_Datatype datatype, MPI_Status *status));
BANYAN_DECLARE(int, MPI_File_write_at, (MPI_File fh, MPI_Offset offset, const void *buf, int count,
    MPI_Datatype datatype, MPI_Status *status));
BANYAN_DECLARE(int, MPI_File_write_at_c, (MPI_File fh, MPI_Offset offset, const void *buf, MPI_Count count,
    MPI_Datatype datatype, MPI_Status *status));
BANYAN_DECLARE(int, MPI_File_write_at_all, (MPI_File fh, MPI_Offset offset, const void *buf, int count,
    MPI_Datatype datatype, MPI_Status *status));
BANYAN_DECLARE(int, MPI_File_write_at_all_c, (MPI_File fh, MPI_Offset offset, const void *buf, MPI_Count count,
    MPI_Datatype datatype, MPI_Status *status));
BANYAN_DECLARE(int, MPI_File_iread_at, (MPI_File fh, MPI_Offset offset, void *buf, int count, MPI_Datatype datatype,
    MPI_Request *request));
BANYAN_DECLARE(int, MPI_File_iread_at_c, (MPI_File fh, MPI_Offset offset, void *buf, MPI_Count count,
    MPI_Datatype datatype, MPI_Request *request));
BANYAN_DECLARE(int, MPI_File_iread_at_all, (MPI_File fh, MPI_Offset offset, void *buf, int count, MPI_Datatype datatype,
    MPI_Request *request));
BANYAN_DECLARE(int, MPI_File_iread_at_all_c, (MPI_File fh, MPI_Offset offset, void *buf, MPI_Count count,
    MPI_Datatype datatype, MPI_Request *request));
BANYAN_DECLARE(int, MPI_File_iwrite_at, (MPI_File fh, MPI_Offset offset, const void *buf, int count,
    MPI_Datatype datatype, MPI_Request *request));
BANYAN_DECLARE(int, MPI_File_iwrite_at_c, (MPI_File fh, MPI_Offset offset, const void *buf, MPI_Count count,
    MPI_Datatype datatype, MPI_Request *request));
BANYAN_DECLARE(int, MPI_File_iwrite_at_all, (MPI_File fh, MPI_Offset offset, const void *buf, int count,
    MPI_Datatype datatype, MPI_Request *request));
BANYAN_DECLARE(int, MPI_File_iwrite_at_all_c, (MPI_File fh, MPI_Offset offset, const void *buf, MPI_Count count,
    MPI_Datatype datatype, MPI_Request *request));
BANYAN_DECLARE(int, MPI_File_read, (MPI_File fh, void *buf, int count, MPI_Datatype datatype, MPI_Status *status));
BANYAN_DECLARE(int, MPI_File_read_c, (MPI_File fh, void *buf, MPI_Count count, MPI_Datatype datatype,
    MPI_Status *status));
BANYAN_DECLARE(int, MPI_File_read_all, (MPI_File fh, void *buf, int count, MPI_Datatype datatype, MPI_Status *status));
BANYAN_DECLARE(int, MPI_File_read_all_c, (MPI_File fh, void *buf, MPI_Count count, MPI_Datatype datatype,
    MPI_Status *status));
BANYAN_DECLARE(int, MPI_File_write, (MPI_File fh, const void *buf, int count, MPI_Datatype datatype,
    MPI_Status *status));
BANYAN_DECLARE(int, MPI_File_write_c, (MPI_File fh, const void *buf, MPI_Count count, MPI_Datatype datatype,
    MPI_Status *status));
BANYAN_DECLARE(int, MPI_File_write_all, (MPI_File fh, const void *buf, int count, MPI_Datatype datatype,
    MPI_Status *status));
BANYAN_DECLARE(int, MPI_File_write_all_c, (MPI_File fh, const void *buf, MPI_Count count, MPI_Datatype datatype,
    MPI_Status *status));
BANYAN_DECLARE(int, MPI_File_iread, (MPI_File fh, void *buf, int count, MPI_Datatype datatype, MPI_Request *request));
BANYAN_DECLARE(int, MPI_File_iread_c, (MPI_File fh, void *buf, MPI_Count count, MPI_Datatype datatype,
    MPI_Request *request));
BANYAN_DECLARE(int, MPI_File_iread_all, (MPI_File fh, void *buf, int count, MPI_Datatype datatype,
    MPI_Request *request));
BANYAN_DECLARE(int, MPI_File_iread_all_c, (MPI_File fh, void *buf, MPI_Count count, MPI_Datatype datatype,
    MPI_Request *request));
BANYAN_DECLARE(int, MPI_File_iwrite, (MPI_File fh, const void *buf, int count, MPI_Datatype datatype,
    MPI_Request *request));
BANYAN_DECLARE(int, MPI_File_iwrite_c, (MPI_File fh, const void *buf, MPI_Count count, MPI_Datatype datatype,
    MPI_Request *request));
BANYAN_DECLARE(int, MPI_File_iwrite_all, (MPI_File fh, const void *buf, int count, MPI_Datatype datatype,
    MPI_Request *request));
BANYAN_DECLARE(int, MPI_File_iwrite_all_c, (MPI_File fh, const void *buf, MPI_Count count, MPI_Datatype datatype,
    MPI_Request *request));
BANYAN_DECLARE(int, MPI_File_seek, (MPI_File fh, MPI_Offset offset, int whence));
BANYAN_DECLARE(int, MPI_File_get_position, (MPI_File fh, MPI_Offset *offset));
BANYAN_DECLARE(int, MPI_File_get_byte_offset, (MPI_File fh, MPI_Offset offset, MPI_Offset *disp));
BANYAN_DECLARE(int, MPI_File_read_shared, (MPI_File fh, void *buf, int count, MPI_Datatype datatype,
    MPI_Status *status));
BANYAN_DECLARE(int, MPI_File_read_shared_c, (MPI_File fh, void *buf, MPI_Count count, MPI_Datatype datatype,
    MPI_Status *status));
BANYAN_DECLARE(int, MPI_File_write_shared, (MPI_File fh, const void *buf, int count, MPI_Datatype datatype,
    MPI_Status *status));
BANYAN_DECLARE(int, MPI_File_write_shared_c, (MPI_File fh, const void *buf, MPI_Count count, MPI_Datatype datatype,
    MPI_Status *status));
BANYAN_DECLARE(int, MPI_File_iread_shared, (MPI_File fh, void *buf, int count, MPI_Datatype datatype,
    MPI_Request *request));
BANYAN_DECLARE(int, MPI_File_iread_shared_c, (MPI_File fh, void *buf, MPI_Count count, MPI_Datatype datatype,
    MPI_Request *request));
BANYAN_DECLARE(int, MPI_File_iwrite_shared, (MPI_File fh, const void *buf, int count, MPI_Datatype datatype,
    MPI_Request *request));
BANYAN_DECLARE(int, MPI_File_iwrite_shared_c, (MPI_File fh, const void *buf, MPI_Count count, MPI_Datatype datatype,
    MPI_Request *request));
BANYAN_DECLARE(int, MPI_File_read_ordered, (MPI_File fh, void *buf, int count, MPI_Datatype datatype,
    MPI_Status *status));
BANYAN_DECLARE(int, MPI_File_read_ordered_c, (MPI_File fh, void *buf, MPI_Count count, MPI_Datatype datatype,
    MPI_Status *status));
BANYAN_DECLARE(int, MPI_File_write_ordered, (MPI_File fh, const void *buf, int count, MPI_Datatype datatype,
    MPI_Status *status));
BANYAN_DECLARE(int, MPI_File_write_ordered_c, (MPI_File fh, const void *buf, MPI_Count count, MPI_Datatype datatype,
    MPI_Status *status));
BANYAN_DECLARE(int, MPI_File_seek_shared, (MPI_File fh, MPI_Offset offset, int whence));
BANYAN_DECLARE(int, MPI_File_get_position_shared, (MPI_File fh, MPI_Offset *offset));
BANYAN_DECLARE(int, MPI_File_read_at_all_begin, (MPI_File fh, MPI_Offset offset, void *buf, int count,
    MPI_Datatype datatype));
BANYAN_DECLARE(int, MPI_File_read_at_all_begin_c, (MPI_File fh, MPI_Offset offset, void *buf, MPI_Count count,
    MPI_Datatype datatype));
BANYAN_DECLARE(int, MPI_File_read_at_all_end, (MPI_File fh, void *buf, MPI_Status *status));
BANYAN_DECLARE(int, MPI_File_write_at_all_begin, (MPI_File fh, MPI_Offset offset, const void *buf, int count,
    MPI_Datatype datatype));
BANYAN_DECLARE(int, MPI_File_write_at_all_begin_c, (MPI_File fh, MPI_Offset offset, const void *buf, MPI_Count count,
    MPI_Datatype datatype));
BANYAN_DECLARE(int, MPI_File_write_at_all_end, (MPI_File fh, const void *buf, MPI_Status *status));
BANYAN_DECLARE(int, MPI_File_read_all_begin, (MPI_File fh, void *buf, int count, MPI_Datatype datatype));
BANYAN_DECLARE(int, MPI_File_read_all_begin_c, (MPI_File fh, void *buf, MPI_Count count, MPI_Datatype datatype));
BANYAN_DECLARE(int, MPI_File_read_all_end, (MPI_File fh, void *buf, MPI_Status *status));
BANYAN_DECLARE(int, MPI_File_write_all_begin, (MPI_File fh, const void *buf, int count, MPI_Datatype datatype));
BANYAN_DECLARE(int, MPI_File_write_all_begin_c, (MPI_File fh, const void *buf, MPI_Count count, MPI_Datatype datatype));
BANYAN_DECLARE(int, MPI_File_write_all_end, (MPI_File fh, const void *buf, MPI_Status *status));
BANYAN_DECLARE(int, MPI_File_read_ordered_begin, (MPI_File fh, void *buf, int count, MPI_Datatype datatype));
BANYAN_DECLARE(int, MPI_File_read_ordered_begin_c, (MPI_File fh, void *buf, MPI_Count count, MPI_Datatype datatype));
BANYAN_DECLARE(int, MPI_File_read_ordered_end, (MPI_File fh, void *buf, MPI_Status *status));
BANYAN_DECLARE(int, MPI_File_write_ordered_begin, (MPI_File fh, const void *buf, int count, MPI_Datatype datatype));
BANYAN_DECLARE(int, MPI_File_write_ordered_begin_c, (MPI_File fh, const void *buf, MPI_Count count,
    MPI_Datatype datatype));
BANYAN_DECLARE(int, MPI_File_write_ordered_end, (MPI_File fh, const void *buf, MPI_Status *status));
BANYAN_DECLARE(int, MPI_File_get_type_extent, (MPI_File fh, MPI_Datatype datatype, MPI_Aint *extent));
BANYAN_DECLARE(int, MPI_File_get_type_extent_c, (MPI_File fh, MPI_Datatype datatype, MPI_Count *extent));
BANYAN_DECLARE(int, MPI_Register_datarep, (const char *datarep, MPI_Datarep_conversion_function *read_conversion_fn,
    MPI_Datarep_conversion_function *write_conversion_fn, MPI_Datarep_extent_function *dtype_file_extent_fn,
    void *extra_state));
BANYAN_DECLARE(int, MPI_Register_datarep_c, (const char *datarep, MPI_Datarep_conversion_function_c *read_conversion_fn,
    MPI_Datarep_conversion_function_c *write_conversion_fn, MPI_Datarep_extent_function *dtype_file_extent_fn,
    void *extra_state));
BANYAN_DECLARE(int, MPI_File_set_atomicity, (MPI_File fh, int flag));
BANYAN_DECLARE(int, MPI_File_get_atomicity, (MPI_File fh, int *flag));
BANYAN_DECLARE(int, MPI_File_sync, (MPI_File fh));

/* 15. Tool support. */

typedef struct MPI_ABI_T_enum *MPI_T_enum;
typedef struct MPI_ABI_T_cvar_handle *MPI_T_cvar_handle;
typedef struct MPI_ABI_T_pvar_handle *MPI_T_pvar_handle;
typedef struct MPI_ABI_T_pvar_session *MPI_T_pvar_session;
typedef struct MPI_ABI_T_event_registration *MPI_T_event_registration;
typedef struct MPI_ABI_T_event_instance *MPI_T_event_instance;

#define MPI_T_ENUM_NULL         ((MPI_T_enum)0)
#define MPI_T_CVAR_HANDLE_NULL  ((MPI_T_cvar_handle)0)
#define MPI_T_PVAR_HANDLE_NULL  ((MPI_T_pvar_handle)0)
#define MPI_T_PVAR_ALL_HANDLES  ((MPI_T_pvar_handle)1)
#define MPI_T_PVAR_SESSION_NULL ((MPI_T_pvar_session)0)

#define MPI_T_ERR_CANNOT_INIT       1001
#define MPI_T_ERR_NOT_ACCESSIBLE    1002
#define MPI_T_ERR_NOT_INITIALIZED   1003
#define MPI_T_ERR_NOT_SUPPORTED     1004
#define MPI_T_ERR_MEMORY            1005
#define MPI_T_ERR_INVALID           1006
#define MPI_T_ERR_INVALID_INDEX     1007
#define MPI_T_ERR_INVALID_ITEM      1008
#define MPI_T_ERR_INVALID_SESSION   1009
#define MPI_T_ERR_INVALID_HANDLE    1010
#define MPI_T_ERR_INVALID_NAME      1011
#define MPI_T_ERR_OUT_OF_HANDLES    1012
#define MPI_T_ERR_OUT_OF_SESSIONS   1013
#define MPI_T_ERR_CVAR_SET_NOT_NOW  1014
#define MPI_T_ERR_CVAR_SET_NEVER    1015
#define MPI_T_ERR_PVAR_NO_WRITE     1016
#define MPI_T_ERR_PVAR_NO_STARTSTOP 1017
#define MPI_T_ERR_PVAR_NO_ATOMIC    1018

#define MPI_T_VERBOSITY_USER_BASIC    0x09
#define MPI_T_VERBOSITY_USER_DETAIL   0x0a
#define MPI_T_VERBOSITY_USER_ALL      0x0c
#define MPI_T_VERBOSITY_TUNER_BASIC   0x11
#define MPI_T_VERBOSITY_TUNER_DETAIL  0x12
#define MPI_T_VERBOSITY_TUNER_ALL     0x14
#define MPI_T_VERBOSITY_MPIDEV_BASIC  0x21
#define MPI_T_VERBOSITY_MPIDEV_DETAIL 0x22
#define MPI_T_VERBOSITY_MPIDEV_ALL    0x24

#define MPI_T_BIND_NO_OBJECT      1
#define MPI_T_BIND_MPI_COMM       2
#define MPI_T_BIND_MPI_DATATYPE   3
#define MPI_T_BIND_MPI_ERRHANDLER 4
#define MPI_T_BIND_MPI_FILE       5
#define MPI_T_BIND_MPI_GROUP      6
#define MPI_T_BIND_MPI_OP         7
#define MPI_T_BIND_MPI_REQUEST    8
#define MPI_T_BIND_MPI_WIN        9
#define MPI_T_BIND_MPI_MESSAGE    10
#define MPI_T_BIND_MPI_INFO       11
#define MPI_T_BIND_MPI_SESSION    12

#define MPI_T_SCOPE_CONSTANT 1
#define MPI_T_SCOPE_READONLY 2
#define MPI_T_SCOPE_LOCAL    3
#define MPI_T_SCOPE_GROUP    4
#define MPI_T_SCOPE_GROUP_EQ 5
#define MPI_T_SCOPE_ALL      6
#define MPI_T_SCOPE_ALL_EQ   7

#define MPI_T_PVAR_CLASS_STATE         1
#define MPI_T_PVAR_CLASS_LEVEL         2
#define MPI_T_PVAR_CLASS_SIZE          3
#define MPI_T_PVAR_CLASS_PERCENTAGE    4
#define MPI_T_PVAR_CLASS_HIGHWATERMARK 5
#define MPI_T_PVAR_CLASS_LOWWATERMARK  6
#define MPI_T_PVAR_CLASS_COUNTER       7
#define MPI_T_PVAR_CLASS_AGGREGATE     8
#define MPI_T_PVAR_CLASS_TIMER         9
#define MPI_T_PVAR_CLASS_GENERIC       10

typedef enum MPI_T_source_order { MPI_T_SOURCE_ORDERED = 1, MPI_T_SOURCE_UNORDERED = 2 } MPI_T_source_order;
typedef enum MPI_T_cb_safety {
    MPI_T_CB_REQUIRE_NONE = 0x00,
    MPI_T_CB_REQUIRE_MPI_RESTRICTED = 0x03,
    MPI_T_CB_REQUIRE_THREAD_SAFE = 0x0f,
    MPI_T_CB_REQUIRE_ASYNC_SIGNAL_SAFE = 0x3f
} MPI_T_cb_safety;

typedef void MPI_T_event_cb_function(MPI_T_event_instance event_instance, MPI_T_event_registration event_registration,
    MPI_T_cb_safety cb_safety, void *user_data);
typedef void MPI_T_event_free_cb_function(MPI_T_event_registration event_registration, MPI_T_cb_safety cb_safety,
    void *user_data);
typedef void MPI_T_event_dropped_cb_function(MPI_Count count, MPI_T_event_registration event_registration,
    int source_index, MPI_T_cb_safety cb_safety, void *user_data);

BANYAN_DECLARE(int, MPI_Pcontrol, (const int level, ...));
BANYAN_DECLARE(int, MPI_T_init_thread, (int required, int *provided));
BANYAN_DECLARE(int, MPI_T_finalize, (void));
BANYAN_DECLARE(int, MPI_T_enum_get_info, (MPI_T_enum enumtype, int *num, char *name, int *name_len));
BANYAN_DECLARE(int, MPI_T_enum_get_item, (MPI_T_enum enumtype, int indx, int *value, char *name, int *name_len));
BANYAN_DECLARE(int, MPI_T_cvar_get_num, (int *num_cvar));
BANYAN_DECLARE(int, MPI_T_cvar_get_info, (int cvar_index, char *name, int *name_len, int *verbosity,
    MPI_Datatype *datatype, MPI_T_enum *enumtype, char *desc, int *desc_len, int *bind, int *scope));
BANYAN_DECLARE(int, MPI_T_cvar_get_index, (const char *name, int *cvar_index));
BANYAN_DECLARE(int, MPI_T_cvar_handle_alloc, (int cvar_index, void *obj_handle, MPI_T_cvar_handle *handle, int *count));
BANYAN_DECLARE(int, MPI_T_cvar_handle_free, (MPI_T_cvar_handle *handle));
BANYAN_DECLARE(int, MPI_T_cvar_read, (MPI_T_cvar_handle handle, void *buf));
BANYAN_DECLARE(int, MPI_T_cvar_write, (MPI_T_cvar_handle handle, const void *buf));
BANYAN_DECLARE(int, MPI_T_pvar_get_num, (int *num_pvar));
BANYAN_DECLARE(int, MPI_T_pvar_get_info, (int pvar_index, char *name, int *name_len, int *verbosity, int *var_class,
    MPI_Datatype *datatype, MPI_T_enum *enumtype, char *desc, int *desc_len, int *bind, int *readonly, int *continuous,
    int *atomic));
BANYAN_DECLARE(int, MPI_T_pvar_get_index, (const char *name, int var_class, int *pvar_index));
BANYAN_DECLARE(int, MPI_T_pvar_session_create, (MPI_T_pvar_session *pe_session));
BANYAN_DECLARE(int, MPI_T_pvar_session_free, (MPI_T_pvar_session *pe_session));
BANYAN_DECLARE(int, MPI_T_pvar_handle_alloc, (MPI_T_pvar_session pe_session, int pvar_index, void *obj_handle,
    MPI_T_pvar_handle *handle, int *count));
BANYAN_DECLARE(int, MPI_T_pvar_handle_free, (MPI_T_pvar_session pe_session, MPI_T_pvar_handle *handle));
BANYAN_DECLARE(int, MPI_T_pvar_start, (MPI_T_pvar_session pe_session, MPI_T_pvar_handle handle));
BANYAN_DECLARE(int, MPI_T_pvar_stop, (MPI_T_pvar_session pe_session, MPI_T_pvar_handle handle));
BANYAN_DECLARE(int, MPI_T_pvar_read, (MPI_T_pvar_session pe_session, MPI_T_pvar_handle handle, void *buf));
BANYAN_DECLARE(int, MPI_T_pvar_write, (MPI_T_pvar_session pe_session, MPI_T_pvar_handle handle, const void *buf));
BANYAN_DECLARE(int, MPI_T_pvar_reset, (MPI_T_pvar_session pe_session, MPI_T_pvar_handle handle));
BANYAN_DECLARE(int, MPI_T_pvar_readreset, (MPI_T_pvar_session pe_session, MPI_T_pvar_handle handle, void *buf));
BANYAN_DECLARE(int, MPI_T_source_get_num, (int *num_sources));
BANYAN_DECLARE(int, MPI_T_source_get_info, (int source_index, char *name, int *name_len, char *desc, int *desc_len,
    MPI_T_source_order *ordering, MPI_Count *ticks_per_second, MPI_Count *max_ticks, MPI_Info *info));
BANYAN_DECLARE(int, MPI_T_source_get_timestamp, (int source_index, MPI_Count *timestamp));
BANYAN_DECLARE(int, MPI_T_event_get_num, (int *num_events));
BANYAN_DECLARE(int, MPI_T_event_get_info, (int event_index, char *name, int *name_len, int *verbosity,
    MPI_Datatype array_of_datatypes[], MPI_Aint array_of_displacements[], int *num_elements, MPI_T_enum *enumtype,
    MPI_Info *info, char *desc, int *desc_len, int *bind));
BANYAN_DECLARE(int, MPI_T_event_get_index, (const char *name, int *event_index));
BANYAN_DECLARE(int, MPI_T_event_handle_alloc, (int event_index, void *obj_handle, MPI_Info info,
    MPI_T_event_registration *event_registration));
BANYAN_DECLARE(int, MPI_T_event_handle_set_info, (MPI_T_event_registration event_registration, MPI_Info info));
BANYAN_DECLARE(int, MPI_T_event_handle_get_info, (MPI_T_event_registration event_registration, MPI_Info *info_used));
BANYAN_DECLARE(int, MPI_T_event_register_callback, (MPI_T_event_registration event_registration,
    MPI_T_cb_safety cb_safety, MPI_Info info, void *user_data, MPI_T_event_cb_function event_cb_function));
BANYAN_DECLARE(int, MPI_T_event_callback_set_info, (MPI_T_event_registration event_registration,
    MPI_T_cb_safety cb_safety, MPI_Info info));
BANYAN_DECLARE(int, MPI_T_event_callback_get_info, (MPI_T_event_registration event_registration,
    MPI_T_cb_safety cb_safety, MPI_Info *info_used));
BANYAN_DECLARE(int, MPI_T_event_handle_free, (MPI_T_event_registration event_registration, void *user_data,
    MPI_T_event_free_cb_function free_cb_function));
BANYAN_DECLARE(int, MPI_T_event_set_dropped_handler, (MPI_T_event_registration event_registration,
    MPI_T_event_dropped_cb_function dropped_cb_function));
BANYAN_DECLARE(int, MPI_T_event_read, (MPI_T_event_instance event_instance, int element_index, void *buffer));
BANYAN_DECLARE(int, MPI_T_event_copy, (MPI_T_event_instance event_instance, void *buffer));
BANYAN_DECLARE(int, MPI_T_event_get_timestamp, (MPI_T_event_instance event_instance, MPI_Count *event_timestamp));
BANYAN_DECLARE(int, MPI_T_event_get_source, (MPI_T_event_instance event_instance, int *source_index));
BANYAN_DECLARE(int, MPI_T_category_get_num, (int *num_cat));
BANYAN_DECLARE(int, MPI_T_category_get_info, (int cat_index, char *name, int *name_len, char *desc, int *desc_len,
    int *num_cvars, int *num_pvars, int *num_categories));
BANYAN_DECLARE(int, MPI_T_category_get_num_events, (int cat_index, int *num_events));
BANYAN_DECLARE(int, MPI_T_category_get_index, (const char *name, int *cat_index));
BANYAN_DECLARE(int, MPI_T_category_get_cvars, (int cat_index, int len, int indices[]));
BANYAN_DECLARE(int, MPI_T_category_get_pvars, (int cat_index, int len, int indices[]));
BANYAN_DECLARE(int, MPI_T_category_get_events, (int cat_index, int len, int indices[]));
BANYAN_DECLARE(int, MPI_T_category_get_categories, (int cat_index, int len, int indices[]));
BANYAN_DECLARE(int, MPI_T_category_changed, (int *update_number));

/* 16. Deprecated. */

typedef MPI_Comm_errhandler_function MPI_Comm_errhandler_fn;
typedef MPI_Win_errhandler_function MPI_Win_errhandler_fn;
typedef MPI_File_errhandler_function MPI_File_errhandler_fn;
typedef MPI_Session_errhandler_function MPI_Session_errhandler_fn;
typedef MPI_Comm_copy_attr_function MPI_Copy_function;
typedef MPI_Comm_delete_attr_function MPI_Delete_function;
#define MPI_NULL_COPY_FN   MPI_COMM_NULL_COPY_FN
#define MPI_DUP_FN         MPI_COMM_DUP_FN
#define MPI_NULL_DELETE_FN MPI_COMM_NULL_DELETE_FN

BANYAN_DECLARE(int, MPI_Keyval_create, (MPI_Copy_function *copy_fn, MPI_Delete_function *delete_fn, int *keyval,
    void *extra_state));
BANYAN_DECLARE(int, MPI_Keyval_free, (int *keyval));
BANYAN_DECLARE(int, MPI_Attr_put, (MPI_Comm comm, int keyval, void *attribute_val));
BANYAN_DECLARE(int, MPI_Attr_get, (MPI_Comm comm, int keyval, void *attribute_val, int *flag));
BANYAN_DECLARE(int, MPI_Attr_delete, (MPI_Comm comm, int keyval));
BANYAN_DECLARE(int, MPI_Info_get, (MPI_Info info, const char *key, int valuelen, char *value, int *flag));
BANYAN_DECLARE(int, MPI_Info_get_valuelen, (MPI_Info info, const char *key, int *valuelen, int *flag));
BANYAN_DECLARE(int, MPI_Get_elements_x, (const MPI_Status *status, MPI_Datatype datatype, MPI_Count *count));
BANYAN_DECLARE(int, MPI_Status_set_elements_x, (MPI_Status *status, MPI_Datatype datatype, MPI_Count count));
BANYAN_DECLARE(int, MPI_Type_size_x, (MPI_Datatype datatype, MPI_Count *size));
BANYAN_DECLARE(int, MPI_Type_get_extent_x, (MPI_Datatype datatype, MPI_Count *lb, MPI_Count *extent));
BANYAN_DECLARE(int, MPI_Type_get_true_extent_x, (MPI_Datatype datatype, MPI_Count *true_lb, MPI_Count *true_extent));

/* 17. Removed. */

/* The ABI has no values for these: ours lie outside its tables. The combiners are never returned. */
#define MPI_LB                        ((MPI_Datatype)0xf00)
#define MPI_UB                        ((MPI_Datatype)0xf01)
#define MPI_COMBINER_HVECTOR_INTEGER  1105
#define MPI_COMBINER_HINDEXED_INTEGER 1107
#define MPI_COMBINER_STRUCT_INTEGER   1110
typedef MPI_Comm_errhandler_function MPI_Handler_function;

BANYAN_DECLARE(int, MPI_Address, (const void *location, MPI_Aint *address));
BANYAN_DECLARE(int, MPI_Type_hvector, (int count, int blocklength, MPI_Aint stride, MPI_Datatype oldtype,
    MPI_Datatype *newtype));
BANYAN_DECLARE(int, MPI_Type_hindexed, (int count, const int array_of_blocklengths[],
    const MPI_Aint array_of_displacements[], MPI_Datatype oldtype, MPI_Datatype *newtype));
BANYAN_DECLARE(int, MPI_Type_struct, (int count, const int array_of_blocklengths[],
    const MPI_Aint array_of_displacements[], const MPI_Datatype array_of_types[], MPI_Datatype *newtype));
BANYAN_DECLARE(int, MPI_Type_extent, (MPI_Datatype datatype, MPI_Aint *extent));
BANYAN_DECLARE(int, MPI_Type_lb, (MPI_Datatype datatype, MPI_Aint *displacement));
BANYAN_DECLARE(int, MPI_Type_ub, (MPI_Datatype datatype, MPI_Aint *displacement));
BANYAN_DECLARE(int, MPI_Errhandler_create, (MPI_Handler_function *handler_fn, MPI_Errhandler *errhandler));
BANYAN_DECLARE(int, MPI_Errhandler_set, (MPI_Comm comm, MPI_Errhandler errhandler));
BANYAN_DECLARE(int, MPI_Errhandler_get, (MPI_Comm comm, MPI_Errhandler *errhandler));

/* 19. Language bindings. */

typedef int MPI_Fint;
typedef MPI_Status MPI_F08_status;
#define MPI_F_SOURCE            0
#define MPI_F_TAG               1
#define MPI_F_ERROR             2
#define MPI_F_STATUS_SIZE       8
#define MPI_F_STATUS_IGNORE     ((MPI_Fint *)0)
#define MPI_F_STATUSES_IGNORE   ((MPI_Fint *)0)
#define MPI_F08_STATUS_IGNORE   ((MPI_F08_status *)0)
#define MPI_F08_STATUSES_IGNORE ((MPI_F08_status *)0)
#define MPI_TYPECLASS_INTEGER   192
#define MPI_TYPECLASS_REAL      193
#define MPI_TYPECLASS_COMPLEX   194

BANYAN_DECLARE(int, MPI_Type_create_f90_integer, (int r, MPI_Datatype *newtype));
BANYAN_DECLARE(int, MPI_Type_create_f90_real, (int p, int r, MPI_Datatype *newtype));
BANYAN_DECLARE(int, MPI_Type_create_f90_complex, (int p, int r, MPI_Datatype *newtype));
BANYAN_DECLARE(int, MPI_Type_match_size, (int typeclass, int size, MPI_Datatype *datatype));
BANYAN_DECLARE(MPI_Fint, MPI_Comm_c2f, (MPI_Comm comm));
BANYAN_DECLARE(MPI_Comm, MPI_Comm_f2c, (MPI_Fint comm));
BANYAN_DECLARE(MPI_Fint, MPI_Errhandler_c2f, (MPI_Errhandler errhandler));
BANYAN_DECLARE(MPI_Errhandler, MPI_Errhandler_f2c, (MPI_Fint errhandler));
BANYAN_DECLARE(MPI_Fint, MPI_File_c2f, (MPI_File file));
BANYAN_DECLARE(MPI_File, MPI_File_f2c, (MPI_Fint file));
BANYAN_DECLARE(MPI_Fint, MPI_Group_c2f, (MPI_Group group));
BANYAN_DECLARE(MPI_Group, MPI_Group_f2c, (MPI_Fint group));
BANYAN_DECLARE(MPI_Fint, MPI_Info_c2f, (MPI_Info info));
BANYAN_DECLARE(MPI_Info, MPI_Info_f2c, (MPI_Fint info));
BANYAN_DECLARE(MPI_Fint, MPI_Message_c2f, (MPI_Message message));
BANYAN_DECLARE(MPI_Message, MPI_Message_f2c, (MPI_Fint message));
BANYAN_DECLARE(MPI_Fint, MPI_Op_c2f, (MPI_Op op));
BANYAN_DECLARE(MPI_Op, MPI_Op_f2c, (MPI_Fint op));
BANYAN_DECLARE(MPI_Fint, MPI_Request_c2f, (MPI_Request request));
BANYAN_DECLARE(MPI_Request, MPI_Request_f2c, (MPI_Fint request));
BANYAN_DECLARE(MPI_Fint, MPI_Session_c2f, (MPI_Session session));
BANYAN_DECLARE(MPI_Session, MPI_Session_f2c, (MPI_Fint session));
BANYAN_DECLARE(MPI_Fint, MPI_Type_c2f, (MPI_Datatype datatype));
BANYAN_DECLARE(MPI_Datatype, MPI_Type_f2c, (MPI_Fint datatype));
BANYAN_DECLARE(MPI_Fint, MPI_Win_c2f, (MPI_Win win));
BANYAN_DECLARE(MPI_Win, MPI_Win_f2c, (MPI_Fint win));
BANYAN_DECLARE(int, MPI_Status_c2f, (const MPI_Status *c_status, MPI_Fint *f_status));
BANYAN_DECLARE(int, MPI_Status_f2c, (const MPI_Fint *f_status, MPI_Status *c_status));
BANYAN_DECLARE(int, MPI_Status_c2f08, (const MPI_Status *c_status, MPI_F08_status *f08_status));
BANYAN_DECLARE(int, MPI_Status_f082c, (const MPI_F08_status *f08_status, MPI_Status *c_status));
BANYAN_DECLARE(int, MPI_Status_f2f08, (const MPI_Fint *f_status, MPI_F08_status *f08_status));
BANYAN_DECLARE(int, MPI_Status_f082f, (const MPI_F08_status *f08_status, MPI_Fint *f_status));

/* 20. Application binary interface. */

BANYAN_DECLARE(int, MPI_Abi_get_version, (int *abi_major, int *abi_minor));
BANYAN_DECLARE(int, MPI_Abi_get_info, (MPI_Info *info));
BANYAN_DECLARE(int, MPI_Abi_get_fortran_info, (MPI_Info *info));
BANYAN_DECLARE(int, MPI_Abi_set_fortran_info, (MPI_Info info));
BANYAN_DECLARE(int, MPI_Abi_get_fortran_booleans, (int logical_size, void *logical_true, void *logical_false,
    int *is_set));
BANYAN_DECLARE(int, MPI_Abi_set_fortran_booleans, (int logical_size, void *logical_true, void *logical_false));
BANYAN_DECLARE(int, MPI_Comm_toint, (MPI_Comm comm));
BANYAN_DECLARE(MPI_Comm, MPI_Comm_fromint, (int comm));
BANYAN_DECLARE(int, MPI_Errhandler_toint, (MPI_Errhandler errhandler));
BANYAN_DECLARE(MPI_Errhandler, MPI_Errhandler_fromint, (int errhandler));
BANYAN_DECLARE(int, MPI_File_toint, (MPI_File file));
BANYAN_DECLARE(MPI_File, MPI_File_fromint, (int file));
BANYAN_DECLARE(int, MPI_Group_toint, (MPI_Group group));
BANYAN_DECLARE(MPI_Group, MPI_Group_fromint, (int group));
BANYAN_DECLARE(int, MPI_Info_toint, (MPI_Info info));
BANYAN_DECLARE(MPI_Info, MPI_Info_fromint, (int info));
BANYAN_DECLARE(int, MPI_Message_toint, (MPI_Message message));
BANYAN_DECLARE(MPI_Message, MPI_Message_fromint, (int message));
BANYAN_DECLARE(int, MPI_Op_toint, (MPI_Op op));
BANYAN_DECLARE(MPI_Op, MPI_Op_fromint, (int op));
BANYAN_DECLARE(int, MPI_Request_toint, (MPI_Request request));
BANYAN_DECLARE(MPI_Request, MPI_Request_fromint, (int request));
BANYAN_DECLARE(int, MPI_Session_toint, (MPI_Session session));
BANYAN_DECLARE(MPI_Session, MPI_Session_fromint, (int session));
BANYAN_DECLARE(int, MPI_Type_toint, (MPI_Datatype datatype));
BANYAN_DECLARE(MPI_Datatype, MPI_Type_fromint, (int datatype));
BANYAN_DECLARE(int, MPI_Win_toint, (MPI_Win win));
BANYAN_DECLARE(MPI_Win, MPI_Win_fromint, (int win));

/* Process fault tolerance: the names of the coming standard; mpi-ext.h has those with an X. */

BANYAN_DECLARE(int, MPI_Comm_revoke, (MPI_Comm comm));
BANYAN_DECLARE(int, MPI_Comm_is_revoked, (MPI_Comm comm, int *flag));
BANYAN_DECLARE(int, MPI_Comm_shrink, (MPI_Comm comm, MPI_Comm *newcomm));
BANYAN_DECLARE(int, MPI_Comm_ishrink, (MPI_Comm comm, MPI_Comm *newcomm, MPI_Request *request));
BANYAN_DECLARE(int, MPI_Comm_agree, (MPI_Comm comm, int *flag));
BANYAN_DECLARE(int, MPI_Comm_iagree, (MPI_Comm comm, int *flag, MPI_Request *request));
BANYAN_DECLARE(int, MPI_Comm_get_failed, (MPI_Comm comm, MPI_Group *failed));
BANYAN_DECLARE(int, MPI_Comm_ack_failed, (MPI_Comm comm, int num_to_ack, int *num_acked));
BANYAN_DECLARE(int, MPI_Comm_failure_ack, (MPI_Comm comm));
BANYAN_DECLARE(int, MPI_Comm_failure_get_acked, (MPI_Comm comm, MPI_Group *failed));

#if defined(__cplusplus)
}
#endif

/* MPICH declares the fault-tolerance extensions here, Open MPI in a file of its own: programs of both kinds compile. */
#include "mpi-ext.h"
#undef BANYAN_DECLARE

#endif
