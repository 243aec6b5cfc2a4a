#include "widgets/core/block_listing.h"

#include "widgets/common/text.h"
#include "widgets/common/theme.h"

#include <QMouseEvent>
#include <QPainter>
#include <QPainterPath>

#include <algorithm>
#include <cmath>

namespace orrery::ui {

QString throughText(const block::ChainLink& link) {
    return link.through == block::StoredInMemory ? BlockListing::tr("memory") : qs(block::registerName(link.through));
}

BlockListing::BlockListing(QWidget* parent)
    : FigureView(
          QStringLiteral("core.block.listing"), tr("The block, port by port"),
          tr("Each instruction with its ports. The arcs are the dependence chain from one iteration to the next"),
          tr("Type machine code at the left. This lists its instructions, the cycles on each port, and the dependence "
             "chain into the next iteration."),
          parent) {}

void BlockListing::setPicture(BlockPicture picture) {
    picture_ = std::move(picture);
    chosen_ = -1;
    setAccessibleDescription(tr("%n instruction(s)", nullptr, static_cast<int>(picture_.lines.size())));
    updateGeometry();
    update();
}

double BlockListing::lineHeight() const {
    return QFontMetricsF(Theme::instance().font(FontRole::Mono)).height() + 5 * Theme::instance().scale();
}

BlockListing::Columns BlockListing::columns() const {
    const Theme& theme = Theme::instance();
    const QFontMetricsF mono(theme.font(FontRole::Mono));
    const double digit = mono.horizontalAdvance(QLatin1Char('0'));
    qsizetype bytes = 0, text = 0;
    for (const BlockLine& line : picture_.lines) {
        bytes = std::max(bytes, line.bytes.size());
        text = std::max(text, line.text.size());
    }
    Columns at;
    at.chain = 8;
    at.offset = at.chain + (picture_.chain.empty() ? 0 : 84 * theme.scale());
    at.bytes = at.offset + 5 * digit;
    at.text = at.bytes + static_cast<double>(std::min<qsizetype>(bytes, 22)) * digit + 2 * digit;
    const auto ports = static_cast<double>(std::max<std::size_t>(picture_.portNames.size(), 1));
    const double wish = at.text + static_cast<double>(std::clamp<qsizetype>(text, 16, 46)) * digit + 2 * digit;
    at.port = std::clamp((width() - wish - 12) / ports, 3.4 * digit, 6.0 * digit);
    at.ports = std::max(at.text + 14 * digit, std::min(wish, width() - 12 - at.port * ports));
    return at;
}

QSize BlockListing::sizeHint() const {
    return {640, static_cast<int>((static_cast<double>(picture_.lines.size()) + 3.5) * lineHeight())};
}

QSize BlockListing::minimumSizeHint() const {
    const double digit = QFontMetricsF(Theme::instance().font(FontRole::Mono)).horizontalAdvance(QLatin1Char('0'));
    const double ports = static_cast<double>(picture_.portNames.size());
    return {picture_.lines.empty() ? 240 : static_cast<int>(84 + (45 + 3.4 * ports) * digit), sizeHint().height()};
}

int BlockListing::lineAt(const QPointF& place) const {
    const int line = static_cast<int>(std::floor(place.y() / lineHeight() - 1.5));
    return line >= 0 && line < static_cast<int>(picture_.lines.size()) ? line : -1;
}

int BlockListing::portAt(const QPointF& place) const {
    const Columns at = columns();
    const int port = static_cast<int>(std::floor((place.x() - at.ports) / at.port));
    return port >= 0 && port < static_cast<int>(picture_.portNames.size()) ? port : -1;
}

QRectF BlockListing::cellOf(int line, int port) const {
    const Columns at = columns();
    return {at.ports + port * at.port, (line + 1.5) * lineHeight(), at.port, lineHeight()};
}

QString BlockListing::textAt(const QPointF& place) const {
    const int at = lineAt(place);
    if (at < 0) return {};
    const BlockLine& line = picture_.lines[static_cast<std::size_t>(at)];
    const int port = portAt(place);
    if (port >= 0)
        return tr("%1\n%2 cycles of port %3 per iteration")
            .arg(line.text, QString::number(line.ports[static_cast<std::size_t>(port)], 'f', 2),
                 picture_.portNames[static_cast<std::size_t>(port)]);
    QString said = line.text + QLatin1Char('\n');
    said += !line.known           ? tr("not in the port table: counts as one micro-operation of one cycle")
            : line.form.isEmpty() ? tr("needs no port")
                                  : tr("row of the port table: %1").arg(line.form);
    for (const auto& link : picture_.chain) {
        if (link.instruction != at) continue;
        said += QLatin1Char('\n') + tr("in the dependence chain: %1 after %2 cycles")
                                        .arg(throughText(link), QString::number(link.cycles, 'f', 2));
    }
    return said;
}

QByteArray BlockListing::csv() const {
    QByteArray out = "byte,machine code,instruction,row of the port table";
    for (const QString& name : picture_.portNames) out += ",port " + name.toUtf8();
    out += ",chain through,chain cycles\n";
    for (std::size_t i = 0; i < picture_.lines.size(); ++i) {
        const BlockLine& line = picture_.lines[i];
        addCell(out, QString::number(line.offset));
        addCell(out, line.bytes);
        addCell(out, line.text);
        addCell(out, line.form);
        for (std::size_t p = 0; p < picture_.portNames.size(); ++p)
            addCell(out, QString::number(line.ports[p], 'g', 6));
        QStringList through;
        double cycles = 0;
        for (const auto& link : picture_.chain) {
            if (link.instruction != static_cast<int>(i)) continue;
            through << throughText(link);
            cycles += link.cycles;
        }
        addCell(out, through.join(QLatin1Char(' ')));
        addCell(out, through.isEmpty() ? QString() : QString::number(cycles, 'g', 6), true);
    }
    return out;
}

void BlockListing::mousePressEvent(QMouseEvent* event) {
    chosen_ = lineAt(event->position());
    update();
    if (chosen_ >= 0) emit lineChosen(chosen_);
}

void BlockListing::paintFigure(QPainter& painter) const {
    const Theme& theme = Theme::instance();
    const Palette& colours = theme.colours();
    const Columns at = columns();
    const double high = lineHeight();
    painter.setFont(theme.font(FontRole::Small));
    painter.setPen(colours.mutedText);
    const auto head = [&](double left, double wide, Qt::Alignment side, const QString& text) {
        painter.drawText(QRectF(left, 0, wide, high * 1.4), side | Qt::AlignVCenter, text);
    };
    if (!picture_.chain.empty()) head(at.chain, at.offset - at.chain, Qt::AlignLeft, tr("chain"));
    head(at.offset, at.bytes - at.offset - 8, Qt::AlignRight, tr("byte"));
    head(at.bytes, at.text - at.bytes, Qt::AlignLeft, tr("machine code"));
    head(at.text, at.ports - at.text, Qt::AlignLeft, tr("instruction"));
    for (std::size_t p = 0; p < picture_.portNames.size(); ++p)
        head(at.ports + static_cast<double>(p) * at.port, at.port, Qt::AlignHCenter, picture_.portNames[p]);
    painter.setPen(colours.line);
    painter.drawLine(QPointF(at.offset, high * 1.4), QPointF(width() - 4, high * 1.4));
    // The heat is of the whole: a port that is busy all the time in one instruction is the hottest.
    double most = picture_.cycles;
    for (const double each : picture_.portCycles) most = std::max(most, each);
    const QFont mono = theme.font(FontRole::Mono), small = theme.font(FontRole::Small);
    for (int i = 0; i < static_cast<int>(picture_.lines.size()); ++i) {
        const BlockLine& line = picture_.lines[static_cast<std::size_t>(i)];
        const double top = (i + 1.5) * high;
        if (i == chosen_) painter.fillRect(QRectF(at.offset, top, width() - at.offset, high), colours.selection);
        painter.setFont(mono);
        const auto cell = [&](double left, double wide, Qt::Alignment side, const QString& text, const QColor& ink) {
            painter.setPen(ink);
            painter.drawText(QRectF(left, top, wide, high), side | Qt::AlignVCenter,
                             painter.fontMetrics().elidedText(text, Qt::ElideRight, static_cast<int>(wide)));
        };
        cell(at.offset, at.bytes - at.offset - 8, Qt::AlignRight, QString::number(line.offset), colours.mutedText);
        cell(at.bytes, at.text - at.bytes - 8, Qt::AlignLeft, line.bytes, colours.mutedText);
        cell(at.text, at.ports - at.text - 8, Qt::AlignLeft, line.text, line.known ? colours.text : colours.warning);
        painter.setFont(small);
        for (int p = 0; p < static_cast<int>(picture_.portNames.size()); ++p) {
            const QRectF box = cellOf(i, p).adjusted(0.5, 0.5, -0.5, -0.5);
            const double cycles = line.ports[static_cast<std::size_t>(p)];
            if (cycles < 0.005) {
                painter.fillRect(box, colours.raised);
                continue;
            }
            const QColor fill = theme.heat(most > 0 ? cycles / most : 0);
            painter.fillRect(box, fill);
            painter.setPen(theme.inkOn(fill));
            painter.drawText(box, Qt::AlignCenter, QString::number(cycles, 'f', cycles < 9.95 ? 2 : 1));
        }
    }
    paintTotals(painter, at);
    paintChain(painter, at);
}

void BlockListing::paintTotals(QPainter& painter, const Columns& at) const {
    const Theme& theme = Theme::instance();
    const Palette& colours = theme.colours();
    const double high = lineHeight();
    const auto count = static_cast<int>(picture_.lines.size());
    const double top = (count + 1.5) * high + 4;
    painter.setPen(colours.line);
    painter.drawLine(QPointF(at.text, top - 2), QPointF(width() - 4, top - 2));
    painter.setFont(theme.font(FontRole::Small));
    painter.setPen(colours.mutedText);
    painter.drawText(QRectF(at.text, top, at.ports - at.text - 8, high), Qt::AlignRight | Qt::AlignVCenter,
                     tr("cycles of each port"));
    double most = 0;
    for (const double each : picture_.portCycles) most = std::max(most, each);
    QFont strong = painter.font();
    strong.setBold(true);
    for (std::size_t p = 0; p < picture_.portNames.size(); ++p) {
        const double cycles = picture_.portCycles[p];
        const bool full = most > 0 && cycles > most * 0.999;
        painter.setFont(full ? strong : theme.font(FontRole::Small));
        painter.setPen(full ? colours.text : colours.mutedText);
        painter.drawText(QRectF(at.ports + static_cast<double>(p) * at.port, top, at.port, high), Qt::AlignCenter,
                         QString::number(cycles, 'f', cycles < 9.95 ? 2 : 1));
    }
}

// From each link to the next; from the last, dashed, around to the first of the next iteration.
void BlockListing::paintChain(QPainter& painter, const Columns& at) const {
    const auto& chain = picture_.chain;
    if (chain.empty()) return;
    const Theme& theme = Theme::instance();
    const Palette& colours = theme.colours();
    const double high = lineHeight(), right = at.offset - 4;
    const auto middle = [&](int line) { return (line + 2) * high; };
    const QColor ink = picture_.chainBinds ? colours.accent : colours.mutedText;
    painter.save();
    painter.setRenderHint(QPainter::Antialiasing);
    painter.setFont(theme.font(FontRole::Small));
    const double reach = right - at.chain - 30 * theme.scale();
    for (std::size_t k = 0; k < chain.size(); ++k) {
        const auto& from = chain[k];
        const auto& to = chain[(k + 1) % chain.size()];
        const double y1 = middle(from.instruction), y2 = middle(to.instruction);
        const bool around = to.instruction <= from.instruction;
        const double bend = right - std::min(reach, 12 + std::abs(y2 - y1) * 0.35 + (around ? 10 : 0));
        painter.setPen(QPen(ink, picture_.chainBinds ? 1.8 : 1.2, around ? Qt::DashLine : Qt::SolidLine));
        painter.setBrush(Qt::NoBrush);
        QPainterPath arc(QPointF(right - 4, y1 + 2));
        arc.cubicTo(bend, y1 + 2, bend, y2 - 2, right - 4, y2 - 2);
        if (from.instruction == to.instruction) {
            arc = QPainterPath(QPointF(right - 4, y1 + 3));
            arc.cubicTo(bend - 12, y1 + high * 0.7, bend - 12, y1 - high * 0.7, right - 4, y1 - 3);
        }
        painter.drawPath(arc);
        // The tip, at what waits.
        const double tip = from.instruction == to.instruction ? y1 - 3 : y2 - 2;
        painter.setPen(Qt::NoPen);
        painter.setBrush(ink);
        painter.drawPolygon(QPolygonF({{right, tip}, {right - 7, tip - 3.5}, {right - 7, tip + 3.5}}));
        painter.setPen(colours.text);
        painter.drawText(QRectF(at.chain, middle(from.instruction) - high / 2, 30 * theme.scale(), high),
                         Qt::AlignLeft | Qt::AlignVCenter, QStringLiteral("+") + QString::number(from.cycles, 'g', 3));
    }
    painter.restore();
}

}  // namespace orrery::ui
