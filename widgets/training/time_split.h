#pragma once

// Where the time of a step goes: its parts side by side in one bar, and under it those of a plan to compare with.

#include <QString>
#include <QWidget>

#include <vector>

namespace orrery::ui {

struct TimeShare {
    enum class Kind : std::uint8_t { Compute, Update, Tensor, Context, Expert, Pipeline, Data, Bubble };
    QString name;
    double seconds = 0;
    Kind kind = Kind::Compute;
    bool operator==(const TimeShare&) const = default;
};

class TimeSplit : public QWidget {
    Q_OBJECT
public:
    explicit TimeSplit(QWidget* parent = nullptr);
    /// `source`: who says so; `before`: of the pinned plan, empty: none.
    void setTimes(std::vector<TimeShare> times, const QString& source, std::vector<TimeShare> before = {});
    const std::vector<TimeShare>& times() const { return times_; }
    QRectF rectOf(std::size_t part) const;
    QSize sizeHint() const override;
    QSize minimumSizeHint() const override;

protected:
    void paintEvent(QPaintEvent* event) override;
    bool event(QEvent* event) override;

private:
    QRectF barOf(const std::vector<TimeShare>& times, std::size_t part, double top, double high) const;
    double longest() const;
    void paintBar(QPainter& painter, const std::vector<TimeShare>& times, double top, double high, bool named) const;

    std::vector<TimeShare> times_, before_;
    QString source_;
};

}  // namespace orrery::ui
