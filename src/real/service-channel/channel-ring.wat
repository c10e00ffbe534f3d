;; What several threads do to the words of a channel's client; channel-ring.ts says what those are. In WebAssembly because V8
;; does not inline Atomics.* (ADR 1), and explored as node.wat is.
;;
;; Offsets: lock 0, born 4, called 128, freed 256, stable 384, driver 512, sent 516, arrived 640, origin 644, consumed 768, taker 772,
;; words of the ring from 1024. `channel-ring.test.ts` says that channel-ring.ts has the same.
;;
;; The lock: 0 free, 1 held, 2 held and somebody may sleep on it. Only who leaves it at 2 wakes anybody.
(module
  (import "ring" "memory" (memory 1 65536 shared))
  (import "ring" "words" (global $words i32))         ;; how many the ring has, a power of two

  ;; Of `lock` and `append6`: 0 done, 1 somebody else has the lock, 2 there is no room, 4 done, and the node must be called.

  ;; The lock with room for so many words; see above.
  (func $lock (export "lock") (param $length i32) (result i32)
    (if (i32.atomic.rmw.cmpxchg (i32.const 0) (i32.const 0) (i32.const 1)) (then (return (i32.const 1))))
    (call $room (local.get $length)))

  ;; The same for who is about to sleep as long as the lock says 2.
  (func (export "lockOrSleep") (param $length i32) (result i32)
    (if (i32.atomic.rmw.xchg (i32.const 0) (i32.const 2)) (then (return (i32.const 1))))
    (call $room (local.get $length)))

  (func $room (param $length i32) (result i32)
    (if (i32.gt_u
          (i32.add
            (i32.sub (i32.load offset=4 (i32.const 0)) (i32.atomic.load offset=256 (i32.const 0)))
            (local.get $length))
          (global.get $words))
      (then
        (call $release)
        (return (i32.const 2))))
    (i32.const 0))

  (func $release
    (if (i32.eq (i32.atomic.rmw.xchg (i32.const 0) (i32.const 0)) (i32.const 2))
      (then (drop (memory.atomic.notify (i32.const 0) (i32.const 1))))))

  ;; So many words behind the last have been written: they are born, and the lock is free. Whoever takes clears `called` before
  ;; it looks how many are born: either it sees these or we call it.
  (func $publish (export "publish") (param $length i32) (result i32)
    (i32.atomic.store offset=4 (i32.const 0) (i32.add (i32.load offset=4 (i32.const 0)) (local.get $length)))
    (call $release)
    (if (i32.atomic.load offset=128 (i32.const 0)) (then (return (i32.const 0))))
    (if (i32.atomic.rmw.xchg offset=128 (i32.const 0) (i32.const 1)) (then (return (i32.const 0))))
    (i32.const 4))

  (func $put (param $position i32) (param $word i32)
    (i32.store offset=1024
      (i32.shl (i32.and (local.get $position) (i32.sub (global.get $words) (i32.const 1))) (i32.const 2))
      (local.get $word)))

  ;; Six words, most of which do not go round the end.
  (func (export "append6")
    (param $a i32) (param $b i32) (param $c i32) (param $d i32) (param $e i32) (param $f i32) (result i32)
    (local $at i32) (local $to i32)
    (if (local.tee $at (call $lock (i32.const 6))) (then (return (local.get $at))))
    (local.set $at (i32.load offset=4 (i32.const 0)))
    (local.set $to (i32.and (local.get $at) (i32.sub (global.get $words) (i32.const 1))))
    (if (i32.gt_u (i32.add (local.get $to) (i32.const 6)) (global.get $words))
      (then
        (call $put (local.get $at) (local.get $a))
        (call $put (i32.add (local.get $at) (i32.const 1)) (local.get $b))
        (call $put (i32.add (local.get $at) (i32.const 2)) (local.get $c))
        (call $put (i32.add (local.get $at) (i32.const 3)) (local.get $d))
        (call $put (i32.add (local.get $at) (i32.const 4)) (local.get $e))
        (call $put (i32.add (local.get $at) (i32.const 5)) (local.get $f))
        (return (call $publish (i32.const 6)))))
    (local.set $to (i32.shl (local.get $to) (i32.const 2)))
    (i32.store offset=1024 (local.get $to) (local.get $a))
    (i32.store offset=1028 (local.get $to) (local.get $b))
    (i32.store offset=1032 (local.get $to) (local.get $c))
    (i32.store offset=1036 (local.get $to) (local.get $d))
    (i32.store offset=1040 (local.get $to) (local.get $e))
    (i32.store offset=1044 (local.get $to) (local.get $f))
    (call $publish (i32.const 6)))

  (func (export "born") (result i32) (i32.atomic.load offset=4 (i32.const 0)))
  (func (export "stable") (result i32) (i32.atomic.load offset=384 (i32.const 0)))

  ;; Whoever takes: from now on it must be called again. The position behind the last word.
  (func (export "heed") (result i32)
    (i32.atomic.store offset=128 (i32.const 0) (i32.const 0))
    (i32.atomic.load offset=4 (i32.const 0)))

  ;; Words before that position may be overwritten. Full rings are rare, so whoever waits is woken whether it is there or not.
  (func (export "free") (param $position i32)
    (i32.atomic.store offset=256 (i32.const 0) (local.get $position))
    (drop (memory.atomic.notify offset=256 (i32.const 0) (i32.const 64))))

  ;; Acknowledgements never go back: a new service is told again what an old one had.
  (func (export "acknowledge") (param $position i32)
    (if (i32.gt_s (i32.sub (local.get $position) (i32.load offset=384 (i32.const 0))) (i32.const 0))
      (then (i32.atomic.store offset=384 (i32.const 0) (local.get $position)))))

  ;; The connection to the service is driven by one thread at a time. Nobody waits for the others: 0, somebody is at it.
  (func (export "tryDrive") (result i32)
    (if (i32.atomic.load offset=512 (i32.const 0)) (then (return (i32.const 0))))
    (i32.eqz (i32.atomic.rmw.cmpxchg offset=512 (i32.const 0) (i32.const 0) (i32.const 1))))
  (func (export "leaveDrive")
    (i32.atomic.store offset=512 (i32.const 0) (i32.const 0)))
  ;; How far the stream has been sent; written by who drives.
  (func (export "sent") (result i32) (i32.atomic.load offset=516 (i32.const 0)))
  (func (export "setSent") (param $position i32)
    (i32.atomic.store offset=516 (i32.const 0) (local.get $position)))

  ;; Words that come back. Who drives writes them and then says how far; who takes reads them and then says how far.
  (func (export "arrived") (result i32) (i32.atomic.load offset=640 (i32.const 0)))
  (func (export "arrive") (param $position i32)
    (i32.atomic.store offset=640 (i32.const 0) (local.get $position)))
  (func (export "consumed") (result i32) (i32.atomic.load offset=768 (i32.const 0)))
  (func (export "consume") (param $position i32)
    (i32.atomic.store offset=768 (i32.const 0) (local.get $position)))

  ;; Which process of the service they are from. It changes only while there are none, before the first of the next ones arrives:
  ;; who finds words finds their origin.
  (func (export "origin") (result i32) (i32.atomic.load offset=644 (i32.const 0)))
  (func (export "beginAnew") (param $origin i32) (result i32)
    (if (i32.ne (i32.atomic.load offset=768 (i32.const 0)) (i32.atomic.load offset=640 (i32.const 0)))
      (then (return (i32.const 0))))
    (i32.atomic.store offset=644 (i32.const 0) (local.get $origin))
    (i32.const 1))

  ;; They are taken by one thread at a time. Nobody waits for the others: 0, somebody is at it.
  (func (export "tryTake") (result i32)
    (if (i32.atomic.load offset=772 (i32.const 0)) (then (return (i32.const 0))))
    (i32.eqz (i32.atomic.rmw.cmpxchg offset=772 (i32.const 0) (i32.const 0) (i32.const 1))))
  (func (export "leaveTake")
    (i32.atomic.store offset=772 (i32.const 0) (i32.const 0))))
