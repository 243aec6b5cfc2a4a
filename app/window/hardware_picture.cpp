#include "app/window/hardware_picture.h"

#include "widgets/common/theme.h"
#include "widgets/panels/component_tree.h"
#include "widgets/panels/glyphs.h"

#include <QHelpEvent>
#include <QKeyEvent>
#include <QMouseEvent>
#include <QPainter>
#include <QToolTip>

namespace orrery::app {

namespace {

QString instancesText(const Component& component) {
    if (component.instances() <= 1) return {};
    if (component.mesh.empty()) return QStringLiteral("×%1").arg(component.count);
    QStringList extents;
    for (const std::int64_t extent : component.mesh) extents << QString::number(extent);
    const QString mesh = extents.join(QStringLiteral("×"));
    return component.count > 1 ? QStringLiteral("×%1 of %2").arg(component.count).arg(mesh) : mesh;
}

QColor mixed(const QColor& a, const QColor& b, float share) {
    return QColor::fromRgbF(a.redF() + (b.redF() - a.redF()) * share, a.greenF() + (b.greenF() - a.greenF()) * share,
                            a.blueF() + (b.blueF() - a.blueF()) * share);
}

}  // namespace

HardwarePicture::HardwarePicture(QWidget* parent) : QWidget(parent) {
    setObjectName(QStringLiteral("hardwarePicture"));
    setAccessibleName(tr("Picture of the design"));
    setToolTip(tr("Click a part to inspect it; arrow keys move between parts"));
    setFocusPolicy(Qt::StrongFocus);
    setMouseTracking(true);
    setMinimumSize(160, 100);
    connect(&ui::Theme::instance(), &ui::Theme::changed, this, &HardwarePicture::arrange);
}

void HardwarePicture::setHardware(HardwarePtr hardware) {
    hardware_ = std::move(hardware);
    if (hardware_ && !componentAt(hardware_->root, current_)) current_.clear();
    arrange();
}

void HardwarePicture::setCurrent(const ComponentPath& path) {
    if (path == current_) return;
    current_ = path;
    update();
}

void HardwarePicture::arrange() {
    placed_.clear();
    hovering_ = false;
    if (hardware_) {
        const QFontMetricsF metrics(ui::Theme::instance().font(ui::FontRole::Small));
        const double margin = ui::Theme::instance().unit();
        placed_ = layoutHardware(hardware_->root, QRectF(rect()).adjusted(margin, margin, -margin, -margin),
                                 metrics.height());
    }
    update();
}

void HardwarePicture::resizeEvent(QResizeEvent*) {
    arrange();
}

void HardwarePicture::paintEvent(QPaintEvent*) {
    const auto& theme = ui::Theme::instance();
    QPainter painter(this);
    painter.setRenderHint(QPainter::Antialiasing);
    painter.fillRect(rect(), theme.colours().surface);
    if (!hardware_) {
        painter.setFont(theme.font(ui::FontRole::Body));
        painter.setPen(theme.colours().mutedText);
        painter.drawText(rect(), Qt::AlignCenter | Qt::TextWordWrap,
                         tr("The design appears here.\nChoose a device in the library or the toolbar."));
        return;
    }
    for (const PlacedComponent& item : placed_) paintBox(painter, item);
}

void HardwarePicture::paintBox(QPainter& painter, const PlacedComponent& item) const {
    const auto& theme = ui::Theme::instance();
    const auto& colours = theme.colours();
    const bool selected = item.path == current_;
    const bool hovered = hovering_ && item.path == hovered_;
    const bool leaf = item.component->children.empty();
    QColor fill =
        leaf ? colours.raised : mixed(colours.surface, colours.raised, item.path.size() % 2 == 0 ? 0.0f : 0.55f);
    if (selected) fill = colours.selection;
    painter.setBrush(fill);
    painter.setPen(QPen(selected ? colours.accent : hovered ? colours.mutedText : colours.line, selected ? 1.6 : 1.0));
    painter.drawRoundedRect(item.box.adjusted(0.5, 0.5, -0.5, -0.5), 4, 4);

    const double pad = theme.unit() * 0.75;
    QRectF text = item.box.adjusted(pad, 0, -pad, 0);
    text.setHeight(std::min(item.header, item.box.height()));
    const double side = std::min(12.0, text.height());
    if (text.width() > side * 4) {
        ui::paintGlyph(painter, item.component->kind, QRectF(text.left(), text.center().y() - side / 2, side, side),
                       colours.mutedText);
        text.setLeft(text.left() + side + pad / 2);
    }
    QFont font = theme.font(ui::FontRole::Small);
    font.setWeight(QFont::DemiBold);
    painter.setFont(font);
    const QFontMetricsF metrics(font);
    QString name =
        item.path.empty() && item.component->name.empty()
            ? QString::fromStdString(hardware_->name)
            : QString::fromUtf8(nameOf(*item.component).data(), static_cast<qsizetype>(nameOf(*item.component).size()));
    if (const QString copies = instancesText(*item.component); !copies.isEmpty()) name += QStringLiteral("  ") + copies;
    painter.setPen(colours.text);
    const QString shown = metrics.elidedText(name, Qt::ElideRight, text.width());
    painter.drawText(text, Qt::AlignVCenter | Qt::AlignLeft, shown);

    QString numbers = ui::keyNumbers(*item.component);
    if (item.childrenHidden) {
        const QString parts = tr("%n part(s)", nullptr, static_cast<int>(item.component->children.size()));
        numbers = numbers.isEmpty() ? parts : numbers + QStringLiteral(" · ") + parts;
    }
    if (numbers.isEmpty()) return;
    painter.setFont(theme.font(ui::FontRole::Small));
    painter.setPen(colours.mutedText);
    const QFontMetricsF small(theme.font(ui::FontRole::Small));
    const double used = metrics.horizontalAdvance(shown) + pad;
    if (small.horizontalAdvance(numbers) <= text.width() - used) {
        painter.drawText(text, Qt::AlignVCenter | Qt::AlignRight, numbers);
    } else if (leaf && item.box.height() > item.header + small.height()) {
        const QRectF below(item.box.left() + pad, item.box.top() + item.header - pad / 2, item.box.width() - 2 * pad,
                           item.box.height() - item.header);
        painter.drawText(below, Qt::AlignLeft | Qt::AlignTop | Qt::TextWordWrap, numbers);
    }
}

const PlacedComponent* HardwarePicture::at(const QPointF& position) const {
    // Children stand after their parents, so the last hit is the innermost.
    for (auto item = placed_.rbegin(); item != placed_.rend(); ++item) {
        if (item->box.contains(position)) return &*item;
    }
    return nullptr;
}

void HardwarePicture::choose(const ComponentPath& path) {
    if (path == current_) return;
    current_ = path;
    update();
    emit componentSelected(path);
}

void HardwarePicture::mousePressEvent(QMouseEvent* event) {
    if (const PlacedComponent* item = at(event->position())) choose(item->path);
}

void HardwarePicture::mouseMoveEvent(QMouseEvent* event) {
    const PlacedComponent* item = at(event->position());
    const bool hovering = item != nullptr;
    if (hovering == hovering_ && (!hovering || item->path == hovered_)) return;
    hovering_ = hovering;
    if (item) hovered_ = item->path;
    update();
}

void HardwarePicture::leaveEvent(QEvent*) {
    hovering_ = false;
    update();
}

void HardwarePicture::keyPressEvent(QKeyEvent* event) {
    if (!hardware_) return QWidget::keyPressEvent(event);
    ComponentPath next = current_;
    switch (event->key()) {
        case Qt::Key_Up:
            if (!next.empty()) next.pop_back();
            break;
        case Qt::Key_Down:
            next.push_back(0);
            break;
        case Qt::Key_Left:
            if (!next.empty()) --next.back();
            break;
        case Qt::Key_Right:
            if (!next.empty()) ++next.back();
            break;
        default:
            return QWidget::keyPressEvent(event);
    }
    if ((next.empty() || next.back() >= 0) && componentAt(hardware_->root, next)) choose(next);
}

bool HardwarePicture::event(QEvent* event) {
    if (event->type() == QEvent::ToolTip) {
        auto* help = static_cast<QHelpEvent*>(event);
        if (const PlacedComponent* item = at(help->pos()); item && hardware_) {
            const QString path = QString::fromStdString(pathText(hardware_->root, item->path));
            const std::string_view kind = label(item->component->kind);
            QToolTip::showText(help->globalPos(),
                               QStringLiteral("%1\n%2  %3\n%4")
                                   .arg(path, QString::fromUtf8(kind.data(), static_cast<qsizetype>(kind.size())),
                                        instancesText(*item->component), ui::keyNumbers(*item->component)),
                               this);
            return true;
        }
    }
    return QWidget::event(event);
}

}  // namespace orrery::app
