;; Collectives of the data plane, the half in the program's memory: the functions that the program's module calls. collectives.wat, the
;; other half, decides; here bytes are copied. What the plane does not take, or not to its end, goes to the import of the same name; so does
;; the call of a program that has written to address 0, through a null pointer, which the engine says (abi/crash/low-memory.ts).
(module
  (import "program" "memory" (memory 1 65536 shared))
  (import "plane" "begin" (func $begin (param i32 i32 i32 i32 i32 i32 i32 i32) (result i32 i32 i32)))
  (import "plane" "beginBlocks" (func $beginBlocks (param i32 i32 i32 i32 i32 i32 i32 i32 i32) (result i32 i32 i32)))
  (import "plane" "beginScatter" (func $beginScatter (param i32 i32 i32 i32 i32 i32 i32 i32) (result i32 i32 i32)))
  (import "plane" "meet" (func $meet (param v128) (result i32 v128)))
  (import "plane" "meetAgain" (func $meetAgain (result i32 v128)))
  (import "plane" "resume" (func $resume (result i32 v128)))
  (import "plane" "blocks" (func $blocks (result i32 i32 i32 i32)))
  (import "plane" "blockOf" (func $blockOf (param i32) (result i32)))
  (import "plane" "lentBlockOf" (func $lentBlockOf (param i32) (result i32 i32)))
  (import "plane" "startOf" (func $startOf (param i32) (result v128)))
  (import "plane" "leave" (func $leave))
  (import "plane" "end" (func $end))
  (import "face" "copyOut" (func $copyOut (param i32 i32 i32)))
  (import "face" "copyIn" (func $copyIn (param i32 i32 i32)))
  (import "face" "storeFirst" (func $storeFirst (param i32 v128 i32)))
  (import "plane" "pair" (func $pair (result i32 i32 i32 i32 i32 i32 i32)))
  (import "neighbours" "combine" (func $combine (param i32 i32 i32 i32 i32 i32 i32 i32 i32))) ;; the results of `pair`, the buffer, bytes
  (import "neighbours" "fetch" (func $fetch (param i32 i32 i32 i32))) ;; place, to, from, bytes: from the memory of that process's program
  (import "waits" "wait" (func $waitAtGate (result i32))) ;; 0: the engine waits; 1: the gate may be open; 2: the stack unwinds
  (import "waits" "rewound" (func $rewound (result i32))) ;; the stack is there again
  (import "engine" "MPI_Barrier" (func $engineBarrier (param i32) (result i32)))
  (import "engine" "MPI_Bcast" (func $engineBcast (param i32 i32 i32 i32 i32) (result i32)))
  (import "engine" "MPI_Reduce" (func $engineReduce (param i32 i32 i32 i32 i32 i32 i32) (result i32)))
  (import "engine" "MPI_Allreduce" (func $engineAllreduce (param i32 i32 i32 i32 i32 i32) (result i32)))
  (import "engine" "MPI_Gather" (func $engineGather (param i32 i32 i32 i32 i32 i32 i32 i32) (result i32)))
  (import "engine" "MPI_Scatter" (func $engineScatter (param i32 i32 i32 i32 i32 i32 i32 i32) (result i32)))
  (import "engine" "MPI_Allgather" (func $engineAllgather (param i32 i32 i32 i32 i32 i32 i32) (result i32)))
  (import "engine" "MPI_Alltoall" (func $engineAlltoall (param i32 i32 i32 i32 i32 i32 i32) (result i32)))

  ;; The call in whose middle the stack was unwound is made again when it is put back; its length.
  (global $isUnwound (mut i32) (i32.const 0))
  (global $bytes (mut i32) (i32.const 0))

  (func (export "MPI_Barrier") (param $comm i32) (result i32)
    (if (call $run (i32.const 0) (i32.const 0) (i32.const 0) (i32.const 0) (i32.const 0) (i32.const 0) (i32.const 0)
          (local.get $comm))
      (then (return (i32.const 0))))
    (call $engineBarrier (local.get $comm)))

  (func (export "MPI_Bcast")
    (param $buffer i32) (param $count i32) (param $type i32) (param $root i32) (param $comm i32) (result i32)
    (if (call $run (i32.const 1) (i32.const 0) (local.get $buffer) (local.get $count) (local.get $type) (i32.const 0)
          (local.get $root) (local.get $comm))
      (then (return (i32.const 0))))
    (call $engineBcast (local.get $buffer) (local.get $count) (local.get $type) (local.get $root) (local.get $comm)))

  (func (export "MPI_Reduce")
    (param $send i32) (param $receive i32) (param $count i32) (param $type i32) (param $op i32) (param $root i32)
    (param $comm i32) (result i32)
    (if (call $run (i32.const 10) (local.get $send) (local.get $receive) (local.get $count) (local.get $type)
          (local.get $op) (local.get $root) (local.get $comm))
      (then (return (i32.const 0))))
    (call $engineReduce (local.get $send) (local.get $receive) (local.get $count) (local.get $type) (local.get $op)
      (local.get $root) (local.get $comm)))

  (func (export "MPI_Allreduce")
    (param $send i32) (param $receive i32) (param $count i32) (param $type i32) (param $op i32) (param $comm i32)
    (result i32)
    (if (call $run (i32.const 11) (local.get $send) (local.get $receive) (local.get $count) (local.get $type)
          (local.get $op) (i32.const 0) (local.get $comm))
      (then (return (i32.const 0))))
    (call $engineAllreduce (local.get $send) (local.get $receive) (local.get $count) (local.get $type) (local.get $op)
      (local.get $comm)))

  (func (export "MPI_Gather")
    (param $send i32) (param $sendCount i32) (param $sendType i32)
    (param $receive i32) (param $receiveCount i32) (param $receiveType i32) (param $root i32) (param $comm i32)
    (result i32)
    (if (call $runBlocks (i32.const 2) (local.get $send) (local.get $sendCount) (local.get $sendType)
          (local.get $receive) (local.get $receiveCount) (local.get $receiveType) (local.get $root) (local.get $comm))
      (then (return (i32.const 0))))
    (call $engineGather (local.get $send) (local.get $sendCount) (local.get $sendType)
      (local.get $receive) (local.get $receiveCount) (local.get $receiveType) (local.get $root) (local.get $comm)))

  (func (export "MPI_Scatter")
    (param $send i32) (param $sendCount i32) (param $sendType i32)
    (param $receive i32) (param $receiveCount i32) (param $receiveType i32) (param $root i32) (param $comm i32)
    (result i32)
    (if (call $runBlocks (i32.const 4) (local.get $send) (local.get $sendCount) (local.get $sendType)
          (local.get $receive) (local.get $receiveCount) (local.get $receiveType) (local.get $root) (local.get $comm))
      (then (return (i32.const 0))))
    (call $engineScatter (local.get $send) (local.get $sendCount) (local.get $sendType)
      (local.get $receive) (local.get $receiveCount) (local.get $receiveType) (local.get $root) (local.get $comm)))

  (func (export "MPI_Allgather")
    (param $send i32) (param $sendCount i32) (param $sendType i32)
    (param $receive i32) (param $receiveCount i32) (param $receiveType i32) (param $comm i32)
    (result i32)
    (if (call $runBlocks (i32.const 6) (local.get $send) (local.get $sendCount) (local.get $sendType)
          (local.get $receive) (local.get $receiveCount) (local.get $receiveType) (i32.const 0) (local.get $comm))
      (then (return (i32.const 0))))
    (call $engineAllgather (local.get $send) (local.get $sendCount) (local.get $sendType)
      (local.get $receive) (local.get $receiveCount) (local.get $receiveType) (local.get $comm)))

  (func (export "MPI_Alltoall")
    (param $send i32) (param $sendCount i32) (param $sendType i32)
    (param $receive i32) (param $receiveCount i32) (param $receiveType i32) (param $comm i32)
    (result i32)
    (if (call $runBlocks (i32.const 8) (local.get $send) (local.get $sendCount) (local.get $sendType)
          (local.get $receive) (local.get $receiveCount) (local.get $receiveType) (i32.const 0) (local.get $comm))
      (then (return (i32.const 0))))
    (call $engineAlltoall (local.get $send) (local.get $sendCount) (local.get $sendType)
      (local.get $receive) (local.get $receiveCount) (local.get $receiveType) (local.get $comm)))

  ;; 1: the collective is complete, with MPI_SUCCESS, or the stack unwinds. 0: the engine does it, or goes on with it.
  (func $run
    (param $kind i32) (param $send i32) (param $receive i32) (param $count i32) (param $type i32) (param $op i32)
    (param $root i32) (param $comm i32) (result i32)
    (if (global.get $isUnwound) (then (return (call $goOn (local.get $receive)))))
    (if (i64.ne (i64.load (i32.const 0)) (i64.const 0)) (then (return (i32.const 0))))
    (call $meetOthers
      (call $begin (local.get $kind) (local.get $send) (local.get $receive) (local.get $count) (local.get $type)
        (local.get $op) (local.get $root) (local.get $comm))
      (local.get $receive)))

  (func $runBlocks
    (param $kind i32) (param $send i32) (param $sendCount i32) (param $sendType i32)
    (param $receive i32) (param $receiveCount i32) (param $receiveType i32) (param $root i32) (param $comm i32)
    (result i32)
    (if (global.get $isUnwound) (then (return (call $goOn (local.get $receive)))))
    (if (i64.ne (i64.load (i32.const 0)) (i64.const 0)) (then (return (i32.const 0))))
    (if (i32.eq (local.get $kind) (i32.const 4))
      (then
        (return
          (call $meetOthers
            (call $beginScatter (local.get $send) (local.get $sendCount) (local.get $sendType)
              (local.get $receive) (local.get $receiveCount) (local.get $receiveType) (local.get $root)
              (local.get $comm))
            (local.get $receive)))))
    (call $meetOthers
      (call $beginBlocks (local.get $kind) (local.get $send) (local.get $sendCount) (local.get $sendType)
        (local.get $receive) (local.get $receiveCount) (local.get $receiveType) (local.get $root) (local.get $comm))
      (local.get $receive)))

  ;; The stack has been put back.
  (func $goOn (param $receive i32) (result i32)
    (global.set $isUnwound (i32.const 0))
    (drop (call $rewound))
    (call $through (call $resume) (local.get $receive) (global.get $bytes)))

  ;; The first three are the results of `begin`, the answer is that of `run`.
  (func $meetOthers (param $bytes i32) (param $from i32) (param $part i32) (param $receive i32) (result i32)
    (local $first v128)
    (if (i32.lt_s (local.get $bytes) (i32.const 0)) (then (return (i32.const 0))))
    (if (local.get $from)
      (then
        (if (i32.le_u (local.get $bytes) (i32.const 16))
          (then (local.set $first (v128.load (local.get $from))))
          (else (call $copyOut (local.get $part) (local.get $from) (local.get $bytes))))))
    (call $through (call $meet (local.get $first)) (local.get $receive) (local.get $bytes)))

  ;; The first two are the results of `meet`, the answer is that of `run`.
  (func $through (param $from i32) (param $first v128) (param $receive i32) (param $bytes i32) (result i32)
    (local $wait i32)
    (loop $again
      (if (i32.eq (local.get $from) (i32.const -2))
        (then
          (if (i32.eqz (local.tee $wait (call $waitAtGate)))
            (then
              (call $leave)
              (return (i32.const 0))))
          (if (i32.eq (local.get $wait) (i32.const 2))
            (then
              (global.set $isUnwound (i32.const 1))
              (global.set $bytes (local.get $bytes))
              (return (i32.const 1))))
          (call $resume)
          (local.set $first)
          (local.set $from)))
      (if (i32.le_u (i32.sub (local.get $from) (i32.const 3)) (i32.const 2))
        (then
          (if (i32.eq (local.get $from) (i32.const 3)) (then (call $takeBlocks (local.get $receive))))
          (if (i32.eq (local.get $from) (i32.const 4))
            (then (call $combine (call $pair) (local.get $receive) (local.get $bytes))))
          (call $meetAgain)
          (local.set $first)
          (local.set $from)
          (br $again))))
    (call $finish (local.get $from) (local.get $first) (local.get $receive) (local.get $bytes)))

  ;; What `meet` says is done, and the answer is that of `run`.
  (func $finish (param $from i32) (param $first v128) (param $receive i32) (param $bytes i32) (result i32)
    (if (i32.lt_s (local.get $from) (i32.const 0)) (then (return (i32.const 0))))
    (if (i32.eq (local.get $from) (i32.const 1))
      (then
        (if (i32.eq (local.get $bytes) (i32.const 8))
          (then (v128.store64_lane 0 (local.get $receive) (local.get $first)))
          (else (call $storeFirst (local.get $receive) (local.get $first) (local.get $bytes))))
        (return (i32.const 1))))
    (if (i32.eq (local.get $from) (i32.const 2))
      (then
        (call $takeBlocks (local.get $receive))
        (call $end)
        (return (i32.const 1))))
    (if (local.get $from)
      (then
        (call $copyIn (local.get $receive) (local.get $from) (local.get $bytes))
        (call $end)))
    (i32.const 1))

  ;; The member's own block is where the program has it.
  (func $takeBlocks (param $receive i32)
    (local $members i32) (local $bytes i32) (local $member i32) (local $own i32) (local $ownAt i32) (local $lent i32)
    (local $place i32)
    (call $blocks)
    (local.set $ownAt)
    (local.set $own)
    (local.set $bytes)
    (local.set $members)
    (loop $next
      (if (i32.eq (local.get $member) (local.get $own))
        (then
          (if (i32.ne (local.get $receive) (local.get $ownAt))
            (then
              (if (i32.eq (local.get $bytes) (i32.const 8))
                (then (i64.store (local.get $receive) (i64.load (local.get $ownAt))))
                (else (memory.copy (local.get $receive) (local.get $ownAt) (local.get $bytes)))))))
        (else
          (call $lentBlockOf (local.get $member))
          (local.set $place)
          (if (local.tee $lent)
            (then (call $fetch (local.get $place) (local.get $receive) (local.get $lent) (local.get $bytes)))
            (else
              (if (i32.eq (local.get $bytes) (i32.const 8))
                (then (v128.store64_lane 0 (local.get $receive) (call $startOf (local.get $member))))
                (else (call $copyIn (local.get $receive) (call $blockOf (local.get $member)) (local.get $bytes))))))))
      (local.set $receive (i32.add (local.get $receive) (local.get $bytes)))
      (br_if $next
        (i32.lt_u (local.tee $member (i32.add (local.get $member) (i32.const 1))) (local.get $members))))))
