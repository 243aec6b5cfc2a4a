#include "hardware/views/network_tier.h"

namespace orrery {

std::string_view toText(TierSource source) {
    switch (source) {
        case TierSource::Topology:
            return "topology";
        case TierSource::Links:
            return "links";
        case TierSource::OwnLinks:
            return "own links";
        case TierSource::NotDrawn:
            return "not drawn";
    }
    return "";
}

}  // namespace orrery
