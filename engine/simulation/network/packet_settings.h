#pragma once

// Packets of a lossless Ethernet with remote memory access: sizes, pauses (PFC, IEEE 802.1Qbb), marks and rates (DCQCN:
// Zhu et al., SIGCOMM 2015). Buffers are stated as the time that a link needs for them, so that they fit links of any
// speed; defaults are those of HPCC's simulations (Li et al., SIGCOMM 2019): 400 KB to 1,600 KB at 100 Gbit/s.

namespace orrery {

struct PacketSettings {
    double payload = 4096;                    ///< B of a packet at most
    double header = 82;                       ///< B on the wire beside it: RoCE v2 in Ethernet, with preamble and gap
    bool pauses = true;                       ///< PFC; without, buffers have no end
    double pauseAt = 64e3, resumeAt = 32e3;   ///< ns of its link, of what came over it and waits in a switch
    bool rateControl = true;                  ///< DCQCN
    double markFrom = 32e3, markAll = 128e3;  ///< ns of a queue's link; between them rising to `markMost`
    double markMost = 0.2;
};

}  // namespace orrery
