#include "widgets/plots/breakdown_view.h"

#include "widgets/common/theme.h"
#include "widgets/common/units_text.h"
#include "widgets/plots/hover_card.h"
#include "widgets/plots/operator_facts.h"

#include <QButtonGroup>
#include <QKeyEvent>
#include <QMouseEvent>
#include <QPainter>
#include <QToolButton>

#include <algorithm>

namespace orrery::ui {
namespace {

constexpr double margin = 12;

double scaled(double pixels) {
    return pixels * Theme::instance().scale();
}

QColor faded(QColor colour, double alpha) {
    colour.setAlphaF(float(alpha));
    return colour;
}

}  // namespace

BreakdownView::BreakdownView(Selection* selection, QWidget* parent)
    : ResultView(QStringLiteral("breakdown"), tr("Breakdown"), selection, parent) {
    setMinimumSize(200, 120);
    setMouseTracking(true);
    setFocusPolicy(Qt::StrongFocus);
    setAccessibleDescription(
        tr("1, 2, 3 and 4 divide by kind, block, bound or part; a click selects the operators of a part."));
    setEmptyState({tr("Breakdown"), tr("Where the time goes, for each method side by side."), tr("Open an example")});
    auto* group = new QButtonGroup(this);
    const struct {
        const char* name;
        QString text, tip;
    } modes[] = {{"breakdown-by-kind", tr("Kind"), tr("By kind of operator (1)")},
                 {"breakdown-by-block", tr("Block"), tr("By block of the model (2)")},
                 {"breakdown-by-bound", tr("Bound"), tr("By the limit of the operators (3)")},
                 {"breakdown-by-part", tr("Part"), tr("By part: computing, transfers, data preparation (4)")}};
    for (const auto& mode : modes) {
        auto* button = new QToolButton(this);
        button->setObjectName(QString::fromLatin1(mode.name));
        button->setText(mode.text);
        button->setToolTip(mode.tip);
        button->setAccessibleName(mode.tip);
        button->setCheckable(true);
        button->setProperty("small", true);
        button->setFocusPolicy(Qt::NoFocus);
        const auto which = BreakdownBy(int(modes_.size()));
        button->setChecked(which == by_);
        connect(button, &QToolButton::clicked, this, [this, which] { setBy(which); });
        group->addButton(button);
        modes_.push_back(button);
    }
    card_ = new HoverCard(this);
    glide_.setStartValue(0.0);
    glide_.setEndValue(1.0);
    glide_.setEasingCurve(QEasingCurve::OutCubic);
    connect(&glide_, &QVariantAnimation::valueChanged, this, [this](const QVariant& value) {
        now_ = between(from_, target_, value.toDouble());
        update();
    });
    connect(selection, &Selection::changed, this, [this] { update(); });
    connect(&Theme::instance(), &Theme::changed, this, [this] { rebuild(false); });
    setEmpty(true);
}

void BreakdownView::setBy(BreakdownBy by) {
    by_ = by;
    modes_[std::size_t(by)]->setChecked(true);
    scroll_ = 0;
    rebuild(false);
}

void BreakdownView::snapshotChanged(const SnapshotPtr&) {
    const bool something = snapshot() && !snapshot()->answers.empty();
    setEmpty(!something);
    for (QToolButton* button : modes_) button->setVisible(something);
    const bool parts = something && dividesByPart(*snapshot());
    modes_[std::size_t(BreakdownBy::Part)]->setVisible(parts);
    if (!parts && by_ == BreakdownBy::Part) {
        by_ = BreakdownBy::Kind;
        modes_[std::size_t(by_)]->setChecked(true);
    }
    card_->hide();
    rebuild(true);
}

void BreakdownView::rebuild(bool glide) {
    glide_.stop();
    from_ = now_;
    target_ = snapshot() ? breakdownModel(*snapshot(), by_) : BreakdownModel();
    hovered_ = -1;
    const int duration = Theme::instance().glideMilliseconds();
    if (!glide || duration == 0 || !isVisible() || from_.bars.empty()) {
        now_ = target_;
        return update();
    }
    glide_.setDuration(duration);
    glide_.start();
}

void BreakdownView::resizeEvent(QResizeEvent* event) {
    ResultView::resizeEvent(event);
    int x = int(margin) - 6;
    for (QToolButton* button : modes_) {
        button->adjustSize();
        button->move(x, 4);
        x += button->width() + 2;
    }
}

double BreakdownView::lineHeight() const {
    return scaled(20);
}

QRectF BreakdownView::barBox(std::size_t bar) const {
    const double title = scaled(18), tall = scaled(22), gap = scaled(14);
    const double top = scaled(34) + double(bar) * (title + tall + gap) + title;
    return {margin, top, std::max(width() - 2 * margin, 1.0), tall};
}

double BreakdownView::listTop() const {
    return now_.bars.empty() ? 0 : barBox(now_.bars.size() - 1).bottom() + scaled(now_.bars.size() > 1 ? 32 : 16);
}

int BreakdownView::linesShown() const {
    return std::max(0, int((height() - listTop() - 4) / lineHeight()));
}

std::vector<BreakdownView::Part> BreakdownView::parts() const {
    std::vector<Part> parts;
    const QFontMetricsF metrics(Theme::instance().font(FontRole::Small));
    for (std::size_t bar = 0; bar < now_.bars.size(); ++bar) {
        if (now_.longest <= 0) break;
        const QRectF box = barBox(bar);
        double x = box.left();
        for (std::size_t i = 0; i < now_.categories.size(); ++i) {
            const BreakdownCategory& category = now_.categories[i];
            const double seconds = category.seconds[bar];
            if (seconds <= 0) continue;
            Part part;
            part.box = QRectF(x, box.top(), seconds / now_.longest * box.width(), box.height());
            part.category = int(i);
            part.bar = int(bar);
            x = part.box.right();
            const QString share = percentText(now_.bars[bar].total > 0 ? seconds / now_.bars[bar].total : 0);
            for (const QString& label : {QStringLiteral("%1 %2").arg(category.label, share), share}) {
                const double wide = metrics.horizontalAdvance(label);
                if (wide + 10 > part.box.width()) continue;
                part.label = label;
                part.labelBox =
                    QRectF(part.box.left() + 5, part.box.center().y() - metrics.height() / 2, wide, metrics.height());
                break;
            }
            parts.push_back(part);
        }
    }
    const int shown = std::min(linesShown(), int(now_.categories.size()) - scroll_);
    for (int line = 0; line < shown; ++line) {
        Part part;
        part.category = scroll_ + line;
        part.box = QRectF(margin, listTop() + line * lineHeight(), listColumns().width, lineHeight());
        parts.push_back(part);
    }
    return parts;
}

BreakdownView::ListColumns BreakdownView::listColumns() const {
    // A time and a share per method, as many methods as leave enough of the line for the name; the primary one first.
    const QFontMetricsF metrics(Theme::instance().font(FontRole::Body));
    const double column = metrics.horizontalAdvance(QStringLiteral("888.8 µs")) +
                          metrics.horizontalAdvance(QStringLiteral("< 0.1 %")) + scaled(28);
    const double room = width() - 2 * margin;
    const auto most = std::max<std::size_t>(std::size_t(std::max(room - scaled(130), 0.0) / column), 1);
    std::vector<std::size_t> shown;
    for (std::size_t i = 0; i < now_.bars.size(); ++i)
        if (now_.bars[i].primary) shown.push_back(i);
    for (std::size_t i = 0; i < now_.bars.size() && shown.size() < most; ++i)
        if (!now_.bars[i].primary && now_.bars[i].divided) shown.push_back(i);
    std::sort(shown.begin(), shown.end());
    return {shown, column, std::min(room, scaled(220) + double(shown.size()) * column)};
}

const BreakdownView::Part* BreakdownView::partAt(const std::vector<Part>& parts, const QPointF& pixel) const {
    const auto found =
        std::find_if(parts.begin(), parts.end(), [&](const Part& part) { return part.box.contains(pixel); });
    return found != parts.end() ? &*found : nullptr;
}

bool BreakdownView::isSelected(const BreakdownCategory& category) const {
    const QSet<int>& chosen = selection()->operators();
    return std::any_of(category.ops.begin(), category.ops.end(), [&](int op) { return chosen.contains(op); });
}

void BreakdownView::paintEvent(QPaintEvent*) {
    QPainter painter(this);
    paintAll(painter);
}

void BreakdownView::paintPicture(QPainter& painter, const QRect& target) {
    painter.save();
    painter.translate(target.topLeft());
    painter.scale(double(target.width()) / std::max(width(), 1), double(target.height()) / std::max(height(), 1));
    paintAll(painter);
    painter.restore();
}

void BreakdownView::paintAll(QPainter& painter) {
    painter.fillRect(rect(), Theme::instance().colours().surface);
    painter.setRenderHint(QPainter::Antialiasing);
    const std::vector<Part> all = parts();
    paintBars(painter, all);
    paintList(painter, all);
}

void BreakdownView::paintBars(QPainter& painter, const std::vector<Part>& all) {
    const Theme& theme = Theme::instance();
    const Palette& c = theme.colours();
    const bool choosing = std::any_of(now_.categories.begin(), now_.categories.end(),
                                      [this](const BreakdownCategory& category) { return isSelected(category); });
    for (std::size_t i = 0; i < now_.bars.size(); ++i) {
        const BreakdownBar& bar = now_.bars[i];
        const QRectF box = barBox(i);
        const QRectF title(box.left(), box.top() - scaled(18), box.width(), scaled(17));
        QFont font = theme.font(FontRole::Body);
        if (bar.primary) font.setWeight(QFont::DemiBold);
        const QString total = bar.total > 0 ? text(Seconds(bar.total)) : QString();
        const double room = title.width() - QFontMetricsF(font).horizontalAdvance(total) - 10;
        painter.setFont(font);
        painter.setPen(c.text);
        painter.drawText(title, Qt::AlignRight | Qt::AlignVCenter, total);
        painter.drawText(title, Qt::AlignLeft | Qt::AlignVCenter,
                         QFontMetricsF(font).elidedText(bar.title, Qt::ElideRight, room));
        painter.setFont(theme.font(FontRole::Small));
        const QFontMetricsF small(painter.font());
        if (!bar.state.isEmpty()) {
            painter.setPen(bar.failed ? c.bad : c.mutedText);
            painter.drawText(box, Qt::AlignLeft | Qt::AlignVCenter,
                             small.elidedText(bar.state, Qt::ElideRight, box.width()));
            continue;
        }
        double used = QFontMetricsF(font).horizontalAdvance(bar.title) + 12;
        QStringList notes;
        if (bar.high > bar.low && bar.low > 0)
            notes << tr("%1 to %2").arg(text(Seconds(bar.low)), text(Seconds(bar.high)));
        if (!bar.figures.isEmpty()) notes << bar.figures;
        painter.setPen(c.mutedText);
        for (const QString& note : notes) {
            if (used + small.horizontalAdvance(note) > room) break;
            painter.drawText(title.adjusted(used, 0, 0, 0), Qt::AlignLeft | Qt::AlignVCenter, note);
            used += small.horizontalAdvance(note) + 14;
        }
        if (!bar.divided && now_.longest > 0) {
            const QRectF whole(box.left(), box.top(), bar.total / now_.longest * box.width(), box.height());
            painter.fillRect(whole, c.line);
            painter.setPen(c.text);
            painter.drawText(whole.adjusted(5, 0, -5, 0), Qt::AlignLeft | Qt::AlignVCenter,
                             small.elidedText(tr("total only"), Qt::ElideRight, whole.width() - 10));
        }
    }
    painter.setFont(theme.font(FontRole::Small));
    for (const Part& part : all) {
        if (part.bar < 0) continue;
        const BreakdownCategory& category = now_.categories[std::size_t(part.category)];
        const bool dim = (choosing && !isSelected(category)) || (hovered_ >= 0 && hovered_ != part.category);
        const QRectF fill = part.box.width() > 3 ? part.box.adjusted(0, 0, -1, 0) : part.box;
        painter.setRenderHint(QPainter::Antialiasing, false);
        painter.fillRect(fill, dim ? faded(category.colour, 0.3) : category.colour);
        painter.setRenderHint(QPainter::Antialiasing);
        if (part.label.isEmpty()) continue;
        painter.setPen(dim ? c.mutedText : theme.inkOn(category.colour));
        painter.drawText(part.labelBox, Qt::AlignLeft | Qt::AlignVCenter | Qt::TextDontClip, part.label);
    }
    // The interval of the whole, as a whisker below the bar.
    for (std::size_t i = 0; i < now_.bars.size(); ++i) {
        const BreakdownBar& bar = now_.bars[i];
        if (!(bar.high > bar.low) || now_.longest <= 0) continue;
        const QRectF box = barBox(i);
        const double y = box.bottom() + 3;
        const double left = box.left() + bar.low / now_.longest * box.width();
        const double right = std::min(box.left() + bar.high / now_.longest * box.width(), box.right());
        painter.setPen(QPen(c.mutedText, 1));
        painter.drawLine(QPointF(left, y), QPointF(right, y));
        painter.drawLine(QPointF(left, y - 2), QPointF(left, y + 2));
        if (right < box.right()) painter.drawLine(QPointF(right, y - 2), QPointF(right, y + 2));
    }
}

void BreakdownView::paintList(QPainter& painter, const std::vector<Part>& all) {
    const Theme& theme = Theme::instance();
    const Palette& c = theme.colours();
    const QFont font = theme.font(FontRole::Body);
    const QFontMetricsF metrics(font);
    painter.setFont(font);
    const auto [shown, column, listWidth] = listColumns();
    if (shown.size() > 1) {
        painter.setFont(theme.font(FontRole::Small));
        painter.setPen(c.mutedText);
        double right = margin + listWidth;
        for (std::size_t k = shown.size(); k-- > 0; right -= column) {
            const QString title =
                QFontMetricsF(painter.font()).elidedText(now_.bars[shown[k]].title, Qt::ElideRight, column - 12);
            painter.drawText(QRectF(right - column, listTop() - scaled(18), column, scaled(18)),
                             Qt::AlignRight | Qt::AlignVCenter, title);
        }
        painter.setFont(font);
    }
    for (const Part& part : all) {
        if (part.bar >= 0) continue;
        const BreakdownCategory& category = now_.categories[std::size_t(part.category)];
        if (part.category == hovered_) painter.fillRect(part.box.adjusted(-6, 0, 6, 0), c.raised);
        if (isSelected(category)) painter.fillRect(part.box.adjusted(-6, 0, 6, 0), c.selection);
        const double middle = part.box.center().y();
        painter.setPen(Qt::NoPen);
        painter.setBrush(category.colour);
        painter.drawRoundedRect(QRectF(part.box.left(), middle - scaled(5), scaled(10), scaled(10)), 2, 2);
        double right = part.box.right();
        for (std::size_t k = shown.size(); k-- > 0;) {
            const double seconds = category.seconds[shown[k]];
            const double total = now_.bars[shown[k]].total;
            painter.setPen(seconds > 0 ? c.mutedText : c.line);
            painter.drawText(QRectF(right - column, part.box.top(), column, part.box.height()),
                             Qt::AlignRight | Qt::AlignVCenter,
                             seconds > 0 ? percentText(total > 0 ? seconds / total : 0) : QStringLiteral("–"));
            painter.setPen(c.text);
            const double share = metrics.horizontalAdvance(QStringLiteral("< 0.1 %")) + scaled(10);
            if (seconds > 0)
                painter.drawText(QRectF(right - column, part.box.top(), column - share, part.box.height()),
                                 Qt::AlignRight | Qt::AlignVCenter, text(Seconds(seconds)));
            right -= column;
        }
        painter.setPen(c.text);
        const QRectF name(part.box.left() + scaled(18), part.box.top(), right - part.box.left() - scaled(18),
                          part.box.height());
        painter.drawText(name, Qt::AlignLeft | Qt::AlignVCenter,
                         metrics.elidedText(category.label, Qt::ElideMiddle, name.width()));
    }
}

void BreakdownView::mouseMoveEvent(QMouseEvent* event) {
    const std::vector<Part> all = parts();
    const Part* part = partAt(all, event->position());
    hovered_ = part ? part->category : -1;
    if (!part) {
        card_->hide();
        return update();
    }
    const BreakdownCategory& category = now_.categories[std::size_t(part->category)];
    HoverCard::Lines lines;
    for (std::size_t i = 0; i < now_.bars.size(); ++i) {
        const BreakdownBar& bar = now_.bars[i];
        if (!bar.divided) continue;
        lines.emplace_back(
            bar.title, QStringLiteral("%1 · %2").arg(text(Seconds(category.seconds[i])),
                                                     percentText(bar.total > 0 ? category.seconds[i] / bar.total : 0)));
    }
    if (by_ != BreakdownBy::Part) lines.emplace_back(tr("Operators"), countText(double(category.ops.size())));
    card_->showAt(event->pos(), category.colour, category.label, lines);
    update();
}

void BreakdownView::mouseReleaseEvent(QMouseEvent* event) {
    if (event->button() != Qt::LeftButton) return;
    setFocus(Qt::MouseFocusReason);
    const std::vector<Part> all = parts();
    const Part* part = partAt(all, event->position());
    const bool adds = event->modifiers() & Qt::ControlModifier;
    if (!part) {
        if (!adds) selection()->clear();
        return;
    }
    const auto& ops = now_.categories[std::size_t(part->category)].ops;
    QSet<int> chosen(ops.begin(), ops.end());
    if (adds) chosen.unite(selection()->operators());
    selection()->select(chosen);
}

void BreakdownView::wheelEvent(QWheelEvent* event) {
    const int most = std::max(0, int(now_.categories.size()) - linesShown());
    scroll_ = std::clamp(scroll_ - event->angleDelta().y() / 60, 0, most);
    event->accept();
    update();
}

void BreakdownView::keyPressEvent(QKeyEvent* event) {
    if (event->key() >= Qt::Key_1 && event->key() <= Qt::Key_3) return setBy(BreakdownBy(event->key() - Qt::Key_1));
    if (event->key() == Qt::Key_4 && snapshot() && dividesByPart(*snapshot())) return setBy(BreakdownBy::Part);
    if (event->key() == Qt::Key_Escape && !selection()->operators().isEmpty()) return selection()->clear();
    ResultView::keyPressEvent(event);
}

void BreakdownView::leaveEvent(QEvent*) {
    hovered_ = -1;
    card_->hide();
    update();
}

QString BreakdownView::csv() const {
    if (target_.bars.empty()) return {};
    QString out = QStringLiteral("category,method,time_s,share\n");
    for (const BreakdownCategory& category : target_.categories) {
        for (std::size_t i = 0; i < target_.bars.size(); ++i) {
            const BreakdownBar& bar = target_.bars[i];
            if (!bar.divided) continue;
            out += csvField(category.label) + QLatin1Char(',') + csvField(bar.title) + QLatin1Char(',') +
                   QString::number(category.seconds[i], 'g', 9) + QLatin1Char(',') +
                   QString::number(bar.total > 0 ? category.seconds[i] / bar.total : 0, 'g', 6) + QLatin1Char('\n');
        }
    }
    return out;
}

}  // namespace orrery::ui
