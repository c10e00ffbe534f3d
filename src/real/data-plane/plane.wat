;; The data plane's half in the node's memory (docs/adr/0020-a-data-plane-compiled-before-the-first-call.md): eager messages in the
;; rings of the node, without the engine, as long as the engine permits it. Every atomic operation is a function of node.wat, which
;; is called here as the transport calls it; all other words of this file are the process's own, or those of a slot that it has
;; reserved or found committed.
;;
;; Offsets in the pass (core/p2p/pass.ts has the same): state 0, eager sends 4, position 8, sent 12, received 16, passed 20, numbered 24,
;; recorded 28, wanted 32, types from 64,
;; communicators from 1088 (16 bytes each: handle, context, size, members or 0), ways from $ways (32 bytes each: next number, eager
;; limit, ring, bell, payload buffers). In a packet: kind 4, source 8, context 12, tag 16, bytes 20, number 24, payload 28.
(module
  (import "node" "memory" (memory 1 65536 shared))
  (import "calls" "reserve" (func $reserve (param i32) (result i32)))
  (import "calls" "commit" (func $commit (param i32 i32 i32 i32) (result i32)))
  (import "calls" "publish" (func $publish (param i32 i32) (result i32)))
  (import "calls" "spin" (func $spin (param i32 i32 i32 i32 i32) (result i32)))
  (import "host" "yield" (func $yield))
  (import "host" "wakeWaiters" (func $wakeWaiters))
  (import "host" "wakeElsewhere" (func $wakeElsewhere (param i32))) ;; the owner of that bell, which sleeps over its sockets
  (import "host" "lookAtSockets" (func $lookAtSockets (result i32))) ;; 1: the engine has something to do
  (import "plane" "pass" (global $pass i32))           ;; where the pass is
  (import "plane" "ways" (global $ways i32))           ;; and the first of its ways
  (import "plane" "rank" (global $rank i32))           ;; the sender in every packet of this process
  (import "plane" "ring" (global $ring i32))           ;; the process's own
  (import "plane" "slots" (global $slots i32))
  (import "plane" "eagerBytes" (global $eagerBytes i32))
  (import "plane" "stop" (global $stop i32))           ;; the word by which others make the process stop
  (import "plane" "notices" (global $notices i32))     ;; how many notices there are
  (import "plane" "noticesSeen" (global $noticesSeen i32))
  (import "plane" "programBytes" (global $programBytes i64)) ;; of the program's memory, without the last 16
  (import "plane" "looks" (global $looks i32))         ;; polls of the ring in one spin
  (import "plane" "spins" (global $spins i32))         ;; spins, then yields, before the engine waits in its own way
  (import "plane" "yields" (global $yields i32))
  (import "plane" "looksAhead" (global $looksAhead i32)) ;; packets that a receive looks at
  (import "plane" "hasSockets" (global $hasSockets i32)) ;; 1: some ranks are on other nodes; their ways have no ring
  (import "plane" "records" (global $records i32))     ;; 1: a protocol must know what receives from any source took
  ;; Six words behind those that the processes have recorded: 0 when that is all; anything else is for `late`.
  (import "record" "append6" (func $append6 (param i32 i32 i32 i32 i32 i32) (result i32)))
  (import "record" "late" (func $late (param i32 i32 i32 i32)))

  ;; The message that is being written: between `send` and `leave`.
  (global $slot (mut i32) (i32.const 0))
  (global $way (mut i32) (i32.const 0))
  (global $payload (mut i32) (i32.const 0))
  (global $context (mut i32) (i32.const 0))
  (global $tag (mut i32) (i32.const 0))
  (global $bytes (mut i32) (i32.const 0))
  ;; The position of the packet that is being read: between `receive` and `release`.
  (global $taken (mut i32) (i32.const 0))
  ;; How many packets behind the next one are void, at most: taken from behind others.
  (global $voids (mut i32) (i32.const 0))
  ;; Calls since the last look at the sockets.
  (global $calls (mut i32) (i32.const 0))
  ;; Waits in a row that a yield has ended at once (see `await`).
  (global $shared (mut i32) (i32.const 0))

  ;; The length of `count` items of a predefined datatype at `buffer`, all of which lie in the program's memory, as do the 16 bytes
  ;; behind them; −1: the engine must look at them. Below 2^31 therefore: memories of programs are no longer.
  (func $bytesOf (export "bytesOf") (param $buffer i32) (param $count i32) (param $type i32) (result i32)
    (local $size i32) (local $bytes i64)
    (local.set $type (i32.sub (local.get $type) (i32.const 0x200)))
    (if (i32.ge_u (local.get $type) (i32.const 256)) (then (return (i32.const -1))))
    (local.set $size
      (i32.load offset=64 (i32.add (global.get $pass) (i32.shl (local.get $type) (i32.const 2)))))
    (if (i32.or (i32.eqz (local.get $size)) (i32.lt_s (local.get $count) (i32.const 0)))
      (then (return (i32.const -1))))
    (local.set $bytes (i64.mul (i64.extend_i32_u (local.get $size)) (i64.extend_i32_u (local.get $count))))
    (if (i32.lt_u (local.get $buffer) (i32.const 1024)) (then (return (i32.const -1))))
    (if (i64.gt_u (i64.add (i64.extend_i32_u (local.get $buffer)) (local.get $bytes)) (global.get $programBytes))
      (then (return (i32.const -1))))
    (i32.wrap_i64 (local.get $bytes)))

  ;; Where the words of a communicator are; 0: nobody has published them.
  (func $communicatorOf (export "communicatorOf") (param $handle i32) (result i32)
    (local $at i32)
    (local.set $at
      (i32.add (global.get $pass)
        (i32.shl
          (i32.and
            (i32.add (local.get $handle) (i32.mul (i32.shr_u (local.get $handle) (i32.const 24)) (i32.const 3)))
            (i32.const 15))
          (i32.const 4))))
    (select (local.get $at) (i32.const 0) (i32.eq (i32.load offset=1088 (local.get $at)) (local.get $handle))))

  ;; The process that has that rank in a communicator, which has so many.
  (func $memberOf (export "memberOf") (param $communicator i32) (param $rank i32) (result i32)
    (local $members i32)
    (if (result i32) (local.tee $members (i32.load offset=1100 (local.get $communicator)))
      (then (i32.load (i32.add (local.get $members) (i32.shl (local.get $rank) (i32.const 2)))))
      (else (local.get $rank))))

  ;; A call begins in a job that has sockets. Now and then they are looked at: what others wait for goes on, whatever this rank does.
  ;; 1: the engine must make the call.
  (func $hasNews (export "hasNews") (result i32)
    (global.set $calls (i32.add (global.get $calls) (i32.const 1)))
    (if (i32.lt_u (global.get $calls) (i32.const 64)) (then (return (i32.const 0))))
    (global.set $calls (i32.const 0))
    (call $lookAtSockets))

  ;; Is that rank of the communicator in this node?
  (func $reaches (param $handle i32) (param $rank i32) (result i32)
    (local $communicator i32)
    (if (i32.eqz (local.tee $communicator (call $communicatorOf (local.get $handle)))) (then (return (i32.const 0))))
    (if (i32.ge_u (local.get $rank) (i32.load offset=1096 (local.get $communicator))) (then (return (i32.const 0))))
    (call $leadsTo (local.get $communicator) (local.get $rank)))
  ;; The same, where both are known to be there.
  (func $leadsTo (param $communicator i32) (param $rank i32) (result i32)
    (i32.ne
      (i32.load offset=8
        (i32.add (global.get $ways)
          (i32.shl (call $memberOf (local.get $communicator) (local.get $rank)) (i32.const 5))))
      (i32.const 0)))

  ;; The pass is closed for a call of that communicator. Where it is opened on demand alone, this may be one.
  (func $ask (param $handle i32) (param $rank i32)
    (if (global.get $hasSockets)
      (then
        (if (call $reaches (local.get $handle) (local.get $rank))
          (then (i32.store offset=32 (global.get $pass) (i32.const 1)))))))

  ;; Is an exchange with these ranks (−3: nobody) one inside of the node?
  (func (export "mayExchange") (param $handle i32) (param $dest i32) (param $source i32) (result i32)
    (if (i32.eqz (global.get $hasSockets)) (then (return (i32.const 1))))
    (if (i32.ne (local.get $dest) (i32.const -3))
      (then (if (i32.eqz (call $reaches (local.get $handle) (local.get $dest))) (then (return (i32.const 0))))))
    (if (i32.eq (local.get $source) (i32.const -3)) (then (return (i32.const 1))))
    (call $reaches (local.get $handle) (local.get $source)))

  (func $slotOf (export "slotOf") (param $position i32) (result i32)
    (i32.add (i32.add (global.get $ring) (i32.const 384))
      (i32.shl (i32.and (local.get $position) (i32.sub (global.get $slots) (i32.const 1))) (i32.const 7))))

  ;; A standard send. `first` are the 16 bytes at `buffer`. The results: its length, or −1 when the engine must send the message and
  ;; nothing has changed; and the place that the caller copies its bytes to before it calls `leave`, 0 when the message has left.
  (func (export "send")
    (param $first v128) (param $buffer i32) (param $count i32) (param $type i32) (param $dest i32) (param $tag i32)
    (param $handle i32)
    (result i32 i32)
    (local $bytes i32) (local $communicator i32) (local $way i32) (local $slot i32) (local $sends i32)
    (block $engine
      (if (i32.and (i32.load (global.get $pass)) (i32.const 5))
        (then
          (call $ask (local.get $handle) (local.get $dest))
          (br $engine)))
      (br_if $engine (i32.load (global.get $stop)))
      (if (global.get $hasSockets) (then (br_if $engine (call $hasNews))))
      (local.set $bytes (call $bytesOf (local.get $buffer) (local.get $count) (local.get $type)))
      (br_if $engine (i32.gt_u (local.get $bytes) (global.get $eagerBytes)))
      (br_if $engine (i32.gt_u (local.get $tag) (i32.const 0x3fffffff)))
      (br_if $engine (i32.eqz (local.tee $communicator (call $communicatorOf (local.get $handle)))))
      (br_if $engine (i32.ge_u (local.get $dest) (i32.load offset=1096 (local.get $communicator))))
      (local.set $way
        (i32.add (global.get $ways)
          (i32.shl (call $memberOf (local.get $communicator) (local.get $dest)) (i32.const 5))))
      (br_if $engine (i32.gt_s (local.get $bytes) (i32.load offset=4 (local.get $way))))
      (br_if $engine (i32.eqz (i32.load offset=8 (local.get $way))))
      ;; Now and then the engine looks at what has arrived; where nothing has, that is done with.
      (local.set $sends (i32.add (i32.load offset=4 (global.get $pass)) (i32.const 1)))
      (if (i32.ge_u (local.get $sends) (i32.const 64))
        (then
          (br_if $engine (call $isAnyThere))
          (local.set $sends (i32.const 0))))
      (br_if $engine (i32.eqz (local.tee $slot (call $reserve (i32.load offset=8 (local.get $way))))))
      (i32.store offset=4 (global.get $pass) (local.get $sends))
      (global.set $slot (local.get $slot))
      (global.set $way (local.get $way))
      (global.set $context (i32.load offset=1092 (local.get $communicator)))
      (global.set $tag (local.get $tag))
      (global.set $bytes (local.get $bytes))
      (if (i32.le_u (local.get $bytes) (i32.const 16))
        (then
          (if (local.get $bytes)
            (then
              (global.set $payload (i32.add (local.get $slot) (i32.const 32)))
              (v128.store offset=32 (local.get $slot) (local.get $first)))
            (else (global.set $payload (i32.const 0))))
          (call $leave)
          (return (local.get $bytes) (i32.const 0))))
      (if (i32.le_u (local.get $bytes) (i32.const 96))
        (then (global.set $payload (i32.add (local.get $slot) (i32.const 32))))
        (else
          (global.set $payload
            (i32.add (i32.load offset=16 (local.get $way))
              (i32.mul
                (i32.shr_u
                  (i32.sub (i32.sub (local.get $slot) (i32.load offset=8 (local.get $way))) (i32.const 384))
                  (i32.const 7))
                (global.get $eagerBytes))))))
      (return (local.get $bytes) (global.get $payload)))
    (i32.const -1) (i32.const 0))

  ;; Has a packet arrived that the process is not done with?
  (func $isAnyThere (export "isAnyThere") (result i32)
    (local $position i32)
    (local.set $position (i32.load offset=8 (global.get $pass)))
    (i32.eq (i32.load (call $slotOf (local.get $position))) (i32.add (local.get $position) (i32.const 1))))

  ;; The payload is there: the header follows, and the message leaves.
  (func $leave (export "leave")
    (local $way i32) (local $slot i32) (local $number i32)
    (local.set $way (global.get $way))
    (local.set $slot (global.get $slot))
    (local.set $number (i32.load (local.get $way)))
    (i32.store offset=4 (local.get $slot) (i32.const 1)) ;; kind EAGER, of a first life
    (i32.store offset=12 (local.get $slot) (global.get $context))
    (i32.store offset=16 (local.get $slot) (global.get $tag))
    (i32.store offset=20 (local.get $slot) (global.get $bytes))
    (i32.store offset=24 (local.get $slot) (local.get $number))
    (if (i32.eq
          (call $commit (local.get $slot) (i32.load offset=12 (local.get $way)) (global.get $rank) (global.get $payload))
          (i32.const 2))
      (then (call $wakeElsewhere (i32.load offset=12 (local.get $way)))))
    (i32.store (local.get $way) (i32.add (local.get $number) (i32.const 1)))
    (i32.store offset=12 (global.get $pass) (i32.add (i32.load offset=12 (global.get $pass)) (i32.const 1))))

  ;; May the plane receive such a message, as far as one can tell before it has come? The words of the communicator; 0: the engine must.
  ;; So must it while receives of the plane's own are pending (requests.wat), which come first.
  (func $mayReceive (export "mayReceive")
    (param $buffer i32) (param $count i32) (param $type i32) (param $source i32) (param $tag i32) (param $handle i32)
    (result i32)
    (if (i32.load (global.get $pass))
      (then
        (call $ask (local.get $handle) (local.get $source))
        (return (i32.const 0))))
    (call $mayPost
      (local.get $buffer) (local.get $count) (local.get $type) (local.get $source) (local.get $tag) (local.get $handle)))

  ;; The same for a receive that is pending behind others of the plane's own.
  (func $mayPost (export "mayPost")
    (param $buffer i32) (param $count i32) (param $type i32) (param $source i32) (param $tag i32) (param $handle i32)
    (result i32)
    (local $communicator i32)
    (block $engine
      (if (i32.and (i32.load (global.get $pass)) (i32.const 7))
        (then
          (call $ask (local.get $handle) (local.get $source))
          (br $engine)))
      (br_if $engine (i32.load (global.get $stop)))
      (if (global.get $hasSockets) (then (br_if $engine (call $hasNews))))
      (br_if $engine
        (i32.lt_s (call $bytesOf (local.get $buffer) (local.get $count) (local.get $type)) (i32.const 0)))
      ;; A tag, or any (−2).
      (br_if $engine
        (i32.and
          (i32.gt_u (local.get $tag) (i32.const 0x3fffffff))
          (i32.ne (local.get $tag) (i32.const -2))))
      (br_if $engine (i32.eqz (local.tee $communicator (call $communicatorOf (local.get $handle)))))
      (if (i32.eq (local.get $source) (i32.const -1))
        (then
          ;; Any source, where ranks are those of the job: no other name has to be looked up. It may be on another node.
          (br_if $engine (i32.or (i32.load offset=1100 (local.get $communicator)) (global.get $hasSockets))))
        (else
          (br_if $engine (i32.ge_u (local.get $source) (i32.load offset=1096 (local.get $communicator))))
          (if (global.get $hasSockets)
            (then (br_if $engine (i32.eqz (call $leadsTo (local.get $communicator) (local.get $source))))))))
      (return (local.get $communicator)))
    (i32.const 0))

  ;; A blocking receive. The results: the length of the message, or −1 when the engine must receive it, or −2 when nothing has come,
  ;; and nothing has changed; where its payload is, for the caller to copy before it calls `release`, or 0 when it is the last result and
  ;; the packet is released; the sender's rank in the communicator; the tag; the first 16 bytes.
  (func (export "receive")
    (param $buffer i32) (param $count i32) (param $type i32) (param $source i32) (param $tag i32) (param $handle i32)
    (result i32 i32 i32 i32 v128)
    (local $communicator i32) (local $world i32) (local $position i32) (local $slot i32)
    (local $bytes i32) (local $first v128)
    (block $engine
      (br_if $engine
        (i32.eqz
          (local.tee $communicator
            (call $mayReceive
              (local.get $buffer) (local.get $count) (local.get $type) (local.get $source) (local.get $tag)
              (local.get $handle)))))
      (local.set $world
        (if (result i32) (i32.eq (local.get $source) (i32.const -1))
          (then (i32.const -1))
          (else (call $memberOf (local.get $communicator) (local.get $source)))))
      (local.set $position (i32.load offset=8 (global.get $pass)))
      ;; The first packet that is wanted. Those in front of it stay where they are; one that is taken from behind others becomes void.
      (block $found
        (loop $next
          (local.set $slot (call $slotOf (local.get $position)))
          (if (i32.eqz (call $await (local.get $slot) (i32.add (local.get $position) (i32.const 1))))
            (then
              (i32.store offset=20 (global.get $pass)
                (i32.sub (local.get $position) (i32.load offset=8 (global.get $pass))))
              (return (i32.const -2) (i32.const 0) (i32.const 0) (i32.const 0) (local.get $first))))
          (if (i32.load offset=4 (local.get $slot))
            (then
              ;; Exactly this kind: of a process in its first life.
              (br_if $engine (i32.ne (i32.load offset=4 (local.get $slot)) (i32.const 1)))
              (br_if $found
                (call $isWanted (local.get $slot) (local.get $communicator) (local.get $world) (local.get $tag))))
            (else
              (if (i32.eq (local.get $position) (i32.load offset=8 (global.get $pass))) (then (call $step)))))
          (local.set $position (i32.add (local.get $position) (i32.const 1)))
          ;; Senders must find room.
          (br_if $next
            (i32.lt_u
              (i32.sub (local.get $position) (i32.load offset=8 (global.get $pass)))
              (global.get $looksAhead))))
        (br $engine))
      (global.set $taken (local.get $position))
      (if (i32.eq (local.get $world) (i32.const -1))
        (then
          (local.set $source (i32.load offset=8 (local.get $slot)))
          (br_if $engine (i32.ge_u (local.get $source) (i32.load offset=1096 (local.get $communicator))))))
      (local.set $bytes (i32.load offset=20 (local.get $slot)))
      (br_if $engine
        (i32.gt_u (local.get $bytes) (call $bytesOf (local.get $buffer) (local.get $count) (local.get $type))))
      (br_if $engine (i32.gt_u (local.get $bytes) (global.get $eagerBytes)))
      (local.set $tag (i32.load offset=16 (local.get $slot)))
      ;; Before anything that the program does next. Nothing can keep the message from being received now.
      (i32.store offset=24 (global.get $pass) (i32.add (i32.load offset=24 (global.get $pass)) (i32.const 1)))
      (if (i32.and (global.get $records) (i32.eq (local.get $world) (i32.const -1)))
        (then
          (if (call $isChoice (local.get $communicator))
            (then (call $record (local.get $source) (i32.load offset=24 (local.get $slot)))))))
      (if (i32.gt_u (local.get $bytes) (i32.const 16))
        (then
          (return (local.get $bytes) (i32.load offset=28 (local.get $slot)) (local.get $source) (local.get $tag)
            (local.get $first))))
      (if (local.get $bytes)
        (then (local.set $first (v128.load (i32.load offset=28 (local.get $slot))))))
      (call $release)
      (return (local.get $bytes) (i32.const 0) (local.get $source) (local.get $tag) (local.get $first)))
    (i32.const -1) (i32.const 0) (i32.const 0) (i32.const 0) (local.get $first))

  ;; Could a receive from any source have taken a message of another sender? Messages of one come in their order in every run. In a
  ;; communicator of two there is one sender, as long as the process has never sent anything to itself.
  (func $isChoice (param $communicator i32) (result i32)
    (local $size i32)
    (local.set $size (i32.load offset=1096 (local.get $communicator)))
    (if (i32.le_u (local.get $size) (i32.const 1)) (then (return (i32.const 0))))
    (if (result i32) (i32.eq (local.get $size) (i32.const 2))
      (then
        (i32.ne (i32.load (i32.add (global.get $ways) (i32.shl (global.get $rank) (i32.const 5)))) (i32.const 0)))
      (else (i32.const 1))))

  ;; The receive that was numbered last has taken that message: an entry of three words, of kind MATCH (core/ft/determinants).
  (func $record (param $source i32) (param $sequence i32)
    (local $number i32) (local $outcome i32)
    (local.set $number (i32.load offset=24 (global.get $pass)))
    (i32.store offset=28 (global.get $pass) (i32.add (i32.load offset=28 (global.get $pass)) (i32.const 1)))
    (if
      (local.tee $outcome
        (call $append6 (i32.const 6) (global.get $rank) (i32.const 1)
          (local.get $number) (local.get $source) (local.get $sequence)))
      (then (call $late (local.get $outcome) (local.get $number) (local.get $source) (local.get $sequence)))))

  ;; A look for a receive that has found nothing, and waits: 1 when another packet is there; 2 when the engine must see to something: the
  ;; pass is closed, the process shall stop, or there is news of a death; 0 otherwise.
  (func (export "look") (result i32)
    (local $position i32) (local $slot i32)
    (local.set $position (i32.add (i32.load offset=8 (global.get $pass)) (i32.load offset=20 (global.get $pass))))
    (local.set $slot (call $slotOf (local.get $position)))
    (local.set $position (i32.add (local.get $position) (i32.const 1)))
    (if (call $spin (local.get $slot) (local.get $position) (local.get $slot) (local.get $position) (i32.const 1))
      (then (return (i32.const 1))))
    (if (i32.or (i32.and (i32.load (global.get $pass)) (i32.const 7)) (i32.load (global.get $stop)))
      (then (return (i32.const 2))))
    (select (i32.const 2) (i32.const 0)
      (i32.ne (i32.load (global.get $notices)) (i32.load (global.get $noticesSeen)))))

  ;; Waits a while for the packet with that stamp: 0 when none has come, when the process shall stop, or when there is news of a death.
  (func $await (export "await") (param $slot i32) (param $stamp i32) (result i32)
    (local $tries i32)
    (if (call $spin (local.get $slot) (local.get $stamp) (local.get $slot) (local.get $stamp) (i32.const 1))
      (then (return (i32.const 1))))
    (if (global.get $shared) (then (local.set $tries (call $firstTries))))
    (loop $again
      (if (i32.ge_u (local.get $tries) (i32.add (global.get $spins) (global.get $yields)))
        (then (return (i32.const 0))))
      (if (i32.load (global.get $stop)) (then (return (i32.const 0))))
      (if (i32.ne (i32.load (global.get $notices)) (i32.load (global.get $noticesSeen)))
        (then (return (i32.const 0))))
      (if (i32.ge_u (local.get $tries) (global.get $spins)) (then (call $yield)))
      (local.set $tries (i32.add (local.get $tries) (i32.const 1)))
      (br_if $again
        (i32.eqz
          (call $spin (local.get $slot) (local.get $stamp) (local.get $slot) (local.get $stamp)
            (select (global.get $looks) (i32.const 1) (i32.le_u (local.get $tries) (global.get $spins)))))))
    (if (i32.or (global.get $shared) (i32.gt_u (local.get $tries) (global.get $spins)))
      (then (call $waited (local.get $tries))))
    (i32.const 1))

  ;; Waits that spin in vain and end with the first yield, again and again, wait for a thread on the same core, which could not run while this
  ;; one spun (docs/adr/0064-a-world-of-the-dead-keeps-up.md). After eight of them sixteen begin with the yield; then one tries spins again.
  (func $firstTries (export "firstTries") (result i32)
    (select (global.get $spins) (i32.const 0) (i32.ge_u (global.get $shared) (i32.const 8))))

  ;; A wait has ended after so many spins and yields.
  (func $waited (export "waited") (param $tries i32)
    (global.set $shared
      (if (result i32) (i32.eq (local.get $tries) (i32.add (global.get $spins) (i32.const 1)))
        (then
          (select (i32.const 7) (i32.add (global.get $shared) (i32.const 1))
            (i32.eq (global.get $shared) (i32.const 23))))
        (else (i32.const 0)))))

  ;; Does a receive want that message: of that process, or of any (−1); with that tag, or any (−2) of the program's?
  (func $isWanted (param $slot i32) (param $communicator i32) (param $world i32) (param $tag i32) (result i32)
    (if (i32.ne (i32.load offset=12 (local.get $slot)) (i32.load offset=1092 (local.get $communicator)))
      (then (return (i32.const 0))))
    (if (i32.eqz
        (i32.or
          (i32.eq (local.get $world) (i32.const -1))
          (i32.eq (i32.load offset=8 (local.get $slot)) (local.get $world))))
      (then (return (i32.const 0))))
    (if (result i32) (i32.eq (local.get $tag) (i32.const -2))
      (then (i32.ge_s (i32.load offset=16 (local.get $slot)) (i32.const 0)))
      (else (i32.eq (i32.load offset=16 (local.get $slot)) (local.get $tag)))))

  ;; The packet at that position is the one that is being read.
  (func (export "take") (param $position i32)
    (global.set $taken (local.get $position)))

  ;; The process is done with the packet that it has taken.
  (func $release (export "release")
    (i32.store offset=16 (global.get $pass) (i32.add (i32.load offset=16 (global.get $pass)) (i32.const 1)))
    (if (i32.eq (global.get $taken) (i32.load offset=8 (global.get $pass)))
      (then
        (call $advance)
        ;; A send that looks at what has arrived (see `send`) goes to the engine if it finds anything; often there is nothing here.
        (if (i32.ge_u (i32.load offset=4 (global.get $pass)) (i32.const 32))
          (then
            (if (i32.eqz (call $isAnyThere)) (then (i32.store offset=4 (global.get $pass) (i32.const 0)))))))
      ;; Void: whoever comes to it passes by, as at a slot whose producer died.
      (else
        (i32.store offset=4 (call $slotOf (global.get $taken)) (i32.const 0))
        (global.set $voids (i32.add (global.get $voids) (i32.const 1))))))

  ;; The process is done with its next packet, and with those behind it that it has taken before: who waits at a gate would take a void slot
  ;; for news.
  (func $advance
    (local $position i32) (local $slot i32)
    (call $step)
    (loop $next
      (if (i32.eqz (global.get $voids)) (then (return)))
      (local.set $position (i32.load offset=8 (global.get $pass)))
      (local.set $slot (call $slotOf (local.get $position)))
      (local.set $position (i32.add (local.get $position) (i32.const 1)))
      (if (i32.eqz
          (call $spin (local.get $slot) (local.get $position) (local.get $slot) (local.get $position) (i32.const 1)))
        (then
          ;; The ring is empty: the engine has passed by the rest.
          (global.set $voids (i32.const 0))
          (return)))
      (if (i32.load offset=4 (local.get $slot)) (then (return)))
      (global.set $voids (i32.sub (global.get $voids) (i32.const 1)))
      (call $step)
      (br $next)))

  ;; The head is published every slots / 4 packets, as the transport does it.
  (func $step (export "step")
    (local $position i32)
    (local.set $position (i32.add (i32.load offset=8 (global.get $pass)) (i32.const 1)))
    (i32.store offset=8 (global.get $pass) (local.get $position))
    (if (i32.eqz (i32.and (local.get $position) (i32.sub (i32.shr_u (global.get $slots) (i32.const 2)) (i32.const 1))))
      (then
        (if (call $publish (global.get $ring) (local.get $position)) (then (call $wakeWaiters))))))

  ;; Bytes of payloads, for the half in the program's memory where one module cannot have both (Node 20).
  (func (export "put") (param $at i32) (param $a v128) (param $b v128) (param $c v128) (param $d v128)
    (v128.store (local.get $at) (local.get $a))
    (v128.store offset=16 (local.get $at) (local.get $b))
    (v128.store offset=32 (local.get $at) (local.get $c))
    (v128.store offset=48 (local.get $at) (local.get $d)))
  (func (export "put16") (param $at i32) (param $a v128)
    (v128.store (local.get $at) (local.get $a)))
  (func (export "get") (param $at i32) (result v128 v128 v128 v128)
    (v128.load (local.get $at))
    (v128.load offset=16 (local.get $at))
    (v128.load offset=32 (local.get $at))
    (v128.load offset=48 (local.get $at)))
  (func (export "get16") (param $at i32) (result v128)
    (v128.load (local.get $at))))
