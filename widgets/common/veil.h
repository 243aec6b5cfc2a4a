#pragma once

#include <QString>
#include <QTimer>
#include <QWidget>

namespace orrery::ui {

/// Lies over a view whose result answers another question than the one that is asked now: the old result is dimmed, and
/// a line says why. The view below can still be looked at and clicked.
class Veil : public QWidget {
    Q_OBJECT
public:
    explicit Veil(QWidget* over);

    void drop(const QString& why);
    /// The same unless it is lifted within a moment: what is answered while a hand moves is not to flicker.
    void dropSoon(const QString& why);
    void lift();
    bool isDown() const { return !isHidden(); }
    const QString& why() const { return why_; }  ///< empty: lifted

    /// Why what `shown` shows, or a part of it, is late: what a veil over it, in it or around it says or is about to
    /// say. Empty if it answers the question that is asked now. What is late is neither copied nor exported.
    static QString lateIn(const QWidget& shown);

protected:
    bool eventFilter(QObject* watched, QEvent* event) override;
    void paintEvent(QPaintEvent* event) override;

private:
    void cover();
    const QString& said() const { return soon_.isActive() ? soonWhy_ : why_; }

    QWidget* over_;
    QString why_, soonWhy_;
    QTimer soon_;
};

}  // namespace orrery::ui
